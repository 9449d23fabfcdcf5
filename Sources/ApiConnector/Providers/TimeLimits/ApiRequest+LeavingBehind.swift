// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiRequest {
    /// Runs code that knows nothing of limits of time, so that its caller can leave it behind: when a limit or a cancel
    /// ends the wait, the code is cancelled, and what it comes to is thrown away.
    func leavingBehind<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws(ApiConnectorError) -> Value {
        let waiter = Waiter<Value>()
        let task = Task {
            do {
                waiter.resume(with: .success(try await body()))
            } catch {
                waiter.resume(with: .failure(ApiConnectorError(mapping: error, request: self)))
            }
        }
        let outcome = await withDeadline {
            await waiter.outcome()
        } onStop: { error in
            waiter.resume(with: .failure(error))
            task.cancel()
        }
        return try outcome.get()
    }
}
