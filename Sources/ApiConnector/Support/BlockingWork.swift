// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Calls a function that may wait for a disk or another process.
///
/// It runs on its own thread, because it must not occupy one of the few threads that run tasks. A cancellation does not
/// end the wait.
func blocking<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
        DispatchQueue(label: "ApiConnector.blocking").async { continuation.resume(returning: body()) }
    }
}
