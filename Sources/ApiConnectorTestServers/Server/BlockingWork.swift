// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// Asynchronous work that one thread waits for and another may cancel.
final class BlockingWork: Sendable {
    private struct State {
        var task: Task<Void, Never>?
        var isCancelled = false
    }

    private let state = Locked(State())

    /// Starts the work, and blocks the calling thread until the work has ended.
    ///
    /// The thread must not belong to Swift's cooperative thread pool.
    @available(*, noasync)
    func result<Value: Sendable>(
        _ work: @escaping @Sendable () async throws(ApiConnectorError) -> Value
    ) throws(ApiConnectorError) -> Value {
        let result = Locked(Result<Value, ApiConnectorError>.failure(ApiConnectorError(.other, "it has not ended")))
        let end = DispatchSemaphore(value: 0)
        let task = Task {
            do throws(ApiConnectorError) {
                let value = try await work()
                result.withLock { $0 = .success(value) }
            } catch {
                result.withLock { $0 = .failure(error) }
            }
            end.signal()
        }
        let isCancelled = state.withLock { state in
            state.task = task
            return state.isCancelled
        }
        if isCancelled { task.cancel() }
        end.wait()
        return try result.withLock { $0 }.get()
    }

    /// Cancels the work, and all work started from now on.
    func cancel() {
        let task = state.withLock { state in
            state.isCancelled = true
            return state.task
        }
        task?.cancel()
    }
}
