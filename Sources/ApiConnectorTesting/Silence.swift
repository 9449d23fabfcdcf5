// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// A wait that ends when the call does: by a cancel, a timeout or the deadline.
final class Silence: Sendable {
    private struct State {
        var continuation: CheckedContinuation<ApiConnectorError, Never>?
        var error: ApiConnectorError?
    }

    private let state = Locked(State())

    func end(of request: ApiRequest) async -> ApiConnectorError {
        await request.withStopHandler {
            await withCheckedContinuation { continuation in
                let error = state.withLock { state in
                    if state.error == nil { state.continuation = continuation }
                    return state.error
                }
                if let error { continuation.resume(returning: error) }
            }
        } onStop: { [self] error in
            let continuation = state.withLock { state in
                state.error = state.error ?? error
                return state.continuation.take()
            }
            continuation?.resume(returning: error)
        }
    }
}
