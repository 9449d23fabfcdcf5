// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

extension ApiRequest {
    /// Runs code that may not notice a cancellation, so that its caller can leave it behind: when a cancellation or the
    /// deadline ends the wait, the code is cancelled, and its result is discarded.
    func leavingBehind<Value: Sendable>(
        _ body: @escaping @Sendable () async -> Value
    ) async throws(ApiConnectorError) -> Value {
        let waiter = Waiter<Value>()
        let task = Protected<Task<Void, Never>?>(nil)
        let outcome = await withDeadline {
            let started = Task { waiter.resume(with: .success(await body())) }
            task.withLock { $0 = started }
            if waiter.isOver { started.cancel() }
            return await waiter.outcome()
        } onStop: { error in
            waiter.resume(with: .failure(error))
            task.withLock { $0 }?.cancel()
        }
        return try outcome.get()
    }
}
