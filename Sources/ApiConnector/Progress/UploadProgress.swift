// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The upload progress of one call's request body, as a sequence.
///
/// ```swift
/// let progress = UploadProgress()
/// async let photo = api.value(Photo.self, at: .upload(file), options: CallOptions(uploadProgress: progress))
/// for await step in progress { show(step.fractionCompleted) }
/// show(try await photo)
/// ```
///
/// It is pulled: a reader gets the newest value that it has not seen, and what came between is left out, so that a slow
/// reader holds nothing up and nothing piles up. It ends with the call, or for a stream with the head of its response.
/// The first value stands at 0; a call that sends its body again, after a redirect or a failure, goes back there.
///
/// A byte counts as soon as the transport has taken it to send. CurlProvider has handed it to libcurl then, and the
/// machine's own buffers may still hold it; a body in memory of up to 1 MiB is counted in one step, when the response
/// begins. URLSessionProvider counts what URLSession tells it. TestConnector counts the whole body when it answers.
public final class UploadProgress: Sendable {
    private struct State {
        var latest: TransferProgress?
        /// Counts the values, so that each reader knows which it has seen.
        var version = 0
        var isOver = false
        var rate: TransferRate?
        var timeSource: any TimeSource = .system
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
        var nextWaiter = 0
    }

    private let state = Locked(State())

    /// Makes the progress of one call; one that is never made never ends.
    public init() {}

    /// The call begins.
    func begin(of totalByteCount: Int?, _ timeSource: any TimeSource) {
        state.withLock { state in
            state.timeSource = timeSource
            state.rate = TransferRate(from: 0, at: timeSource.now)
        }
        report(0, of: totalByteCount)
    }

    /// The transport has taken `byteCount` bytes so far.
    func report(_ byteCount: Int, of totalByteCount: Int?) {
        change { state in
            state.latest = TransferProgress(
                byteCount: byteCount,
                totalByteCount: totalByteCount,
                bytesPerSecond: state.rate?.record(byteCount, at: state.timeSource.now)
            )
            state.version += 1
        }
    }

    /// The call is over.
    func finish() {
        change { $0.isOver = true }
    }

    private func change(_ body: (inout State) -> Void) {
        let waiters = state.withLock { state in
            guard !state.isOver else { return [] as [CheckedContinuation<Void, Never>] }
            body(&state)
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Waits for a value behind one that was seen.
    fileprivate func next(behind version: Int) async -> (TransferProgress, version: Int)? {
        while !Task.isCancelled {
            let (value, isOver) = state.withLock { state in
                (state.version > version ? state.latest.map { ($0, state.version) } : nil, state.isOver)
            }
            if let value { return value }
            if isOver { return nil }
            await change(behind: version)
        }
        return nil
    }

    /// Waits until there is something else than a version that was seen, or the task is canceled.
    private func change(behind version: Int) async {
        let number = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isDue = state.withLock { state in
                    guard state.version == version, !state.isOver, !Task.isCancelled else { return true }
                    state.waiters[number] = continuation
                    return false
                }
                if isDue { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: number) }?.resume()
        }
    }
}

extension UploadProgress: AsyncSequence {
    private struct Iterator: AsyncIteratorProtocol {
        let progress: UploadProgress
        var version = 0

        /// The newest value, as soon as there is one that was not seen; nil at the end, and when the task is canceled.
        mutating func next() async -> TransferProgress? {
            guard let (value, version) = await progress.next(behind: version) else { return nil }
            self.version = version
            return value
        }
    }

    /// Begins with the newest value.
    ///
    /// `next(isolation:)` of the iterator throws nothing; a loop calls it.
    public func makeAsyncIterator() -> some AsyncIteratorProtocol<TransferProgress, Never> { Iterator(progress: self) }
}
