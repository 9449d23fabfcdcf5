// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Back-pressure for a session's task: suspends it while its reader is behind.
///
/// A suspended task still delivers the data that it has already read from the connection.
final class URLSessionFlow: Sendable {
    /// The number of unread bytes that suspends the task: 1 MiB.
    static let suspendingByteCount = 1 << 20

    private struct State {
        var unreadByteCount = 0
        var isSuspended = false
        var isOver = false
    }

    /// Keeps the calls in order: they are enqueued under the lock, and made outside of it.
    private let queue = DispatchQueue(label: "URLSessionFlow")
    private let state = Locked(State())
    private let suspend: @Sendable () -> Void
    private let resume: @Sendable () -> Void

    init(suspend: @escaping @Sendable () -> Void, resume: @escaping @Sendable () -> Void) {
        self.suspend = suspend
        self.resume = resume
    }

    convenience init(of task: URLSessionTask) {
        self.init(suspend: { [weak task] in task?.suspend() }, resume: { [weak task] in task?.resume() })
    }

    /// Counts bytes that have arrived.
    func received(_ byteCount: Int) {
        change { state in
            state.unreadByteCount += byteCount
            guard !state.isSuspended, state.unreadByteCount >= Self.suspendingByteCount else { return nil }
            state.isSuspended = true
            return suspend
        }
    }

    /// Counts bytes that the reader has received.
    func delivered(_ byteCount: Int) {
        change { state in
            state.unreadByteCount -= byteCount
            guard state.isSuspended, state.unreadByteCount < Self.suspendingByteCount / 2 else { return nil }
            state.isSuspended = false
            return resume
        }
    }

    /// Stops suspending, because there is no reader and the task is about to be canceled.
    func end() {
        state.withLock { $0.isOver = true }
    }

    private func change(_ body: (inout State) -> (@Sendable () -> Void)?) {
        state.withLock { state in
            if !state.isOver, let call = body(&state) { queue.async(execute: call) }
        }
    }
}
