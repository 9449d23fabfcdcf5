// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Synchronization

/// Adds a token to each request, and gets a new one when the server refuses it.
struct TokenCredential<Wrapped: DataRequestType>: DataRequestType {
    let wrapped: Wrapped
    let tokens: TokenStore

    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        // The refresh does not wait for itself.
        if request.isCredentialRefresh { return try await wrapped.response(for: request) }
        // The call has its own credential.
        if request.headers.contains(.authorization) { return try await wrapped.response(for: request) }
        var request = request
        let token = tokens.current
        guard request.setCredentials({ $0.headers[.authorization] = "Bearer \(token)" }) else {
            return try await wrapped.response(for: request)
        }
        let response = try await wrapped.response(for: request)
        guard response.status == 401, request.body.isReplayable else { return response }
        response.discardBody()
        let next = try await tokens.replacement(of: token, for: request)
        request.setCredentials { $0.headers[.authorization] = "Bearer \(next)" }
        return try await wrapped.response(for: request)
    }
}

/// The current token.
///
/// All calls that wait for the next one share one refresh.
final class TokenStore: Sendable {
    private struct State {
        var token: String
        var refresh: Task<String, any Error>?
    }

    private let state: Mutex<State>
    private let fetch: @Sendable () async throws -> String

    init(_ token: String, fetch: @escaping @Sendable () async throws -> String) {
        state = Mutex(State(token: token))
        self.fetch = fetch
    }

    var current: String { state.withLock { $0.token } }

    func replacement(of old: String, for request: ApiRequest) async throws(ApiConnectorError)
        -> String
    {
        let refresh = state.withLock { state -> Task<String, any Error>? in
            guard state.token == old else { return nil }
            let refresh = state.refresh ?? Task { try await renew() }
            state.refresh = refresh
            return refresh
        }
        guard let refresh else { return current }
        // A cancellation and the deadline end this call's wait, not the refresh.
        return try await request.withDeadline { try await refresh.value }
    }

    private func renew() async throws -> String {
        defer { state.withLock { $0.refresh = nil } }
        let token = try await ApiRequest.markingCredentialRefresh(of: self) { try await fetch() }
        state.withLock { $0.token = token }
        return token
    }
}
