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
/// A reader gets the newest value that it has not seen. Values in between are skipped, so a slow reader delays nothing
/// and nothing is buffered. The sequence ends when the call ends. For a stream, it ends when the head of the response
/// arrives. The first value is 0 bytes. If the call sends its body again, after a redirect or a failure, the count
/// returns to 0.
///
/// A byte counts when the transport has accepted it for sending:
///
/// - `CurlProvider`: when libcurl has the byte; the system's buffers may still hold it. A body in memory of up to 1 MiB
///   is counted in one step, when the response begins.
/// - `URLSessionProvider`: when `URLSession` reports the byte.
/// - `TestConnector`: the whole body, when it responds.
public final class UploadProgress: Sendable {
    private struct State {
        var latest: TransferProgress?
        /// Counts the values, so that a reader knows which values it has seen.
        var version = 0
        var isOver = false
        var rate: TransferRate?
        var timeSource: any TimeSource = .system
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
        var nextWaiter = 0
    }

    private let state = Locked(State())

    /// Makes the progress of one call.
    ///
    /// If the call is never made, the sequence never ends.
    public init() {}

    /// Starts the progress when the call begins.
    func begin(of totalByteCount: Int?, _ timeSource: any TimeSource) {
        state.withLock { state in
            state.timeSource = timeSource
            state.rate = TransferRate(from: 0, at: timeSource.now)
        }
        report(0, of: totalByteCount)
    }

    /// Reports how many bytes the transport has accepted so far.
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

    /// Ends the progress when the call ends.
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

    /// Waits for a value newer than `version`.
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

    /// Waits for a version newer than `version`, or for the task's cancellation.
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

        /// Waits for a value that was not returned yet, and returns the newest; nil at the end, and after a
        /// cancellation.
        mutating func next() async -> TransferProgress? {
            guard let (value, version) = await progress.next(behind: version) else { return nil }
            self.version = version
            return value
        }
    }

    /// Starts with the newest value.
    ///
    /// A loop calls the iterator's `next(isolation:)`, which does not throw.
    public func makeAsyncIterator() -> some AsyncIteratorProtocol<TransferProgress, Never> { Iterator(progress: self) }
}
