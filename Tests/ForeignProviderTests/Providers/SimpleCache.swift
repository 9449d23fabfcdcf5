// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Foundation
import Synchronization

/// Whether a call asks the server.
enum BypassesCache: RequestValueKey {
    static let defaultValue = false
}

/// Answers a GET with the response that the same user got before.
struct SimpleCache<Wrapped: DataRequestType>: DataRequestType {
    private let wrapped: Wrapped
    private let store = Store()

    init(_ wrapped: Wrapped) {
        self.wrapped = wrapped
    }

    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        guard request.method == .get, !request.isCredentialRefresh else {
            return try await wrapped.response(for: request)
        }
        let key = Key(url: request.url, credentials: request.credentialParts)
        if !request.values[BypassesCache.self], let stored = store[key],
            stored.body.count <= request.delivery.maximumByteCount
        {
            var response = ApiResponse(to: request, status: 200, headers: stored.headers)
            response.body = ResponseBody(stored.body)
            response.cacheHit = .fresh
            request.report(.servedFromCache(.fresh))
            return response
        }
        let response = try await wrapped.response(for: request).collectedIfWanted(by: request)
        // A wrapper inside that adds credentials makes it the response to another user.
        if response.status == 200, let body = response.body.collected,
            !response.mayDependOnStoredCookies,
            !response.headers.values(.cacheControl).contains(where: { $0.contains("no-store") }),
            response.request.credentialParts == request.credentialParts
        {
            store[key] = (response.headers, body)
        }
        return response
    }

    private struct Key: Hashable {
        let url: URL
        let credentials: [String]
    }

    /// At most 100 responses of up to 64 KiB.
    private final class Store: Sendable {
        private let responses = Mutex<[Key: (headers: HTTPHeaders, body: Data)]>([:])

        subscript(key: Key) -> (headers: HTTPHeaders, body: Data)? {
            get { responses.withLock { $0[key] } }
            set {
                guard let newValue, newValue.body.count <= 64 * 1024 else { return }
                responses.withLock { responses in
                    if responses.count >= 100, responses[key] == nil { responses.removeAll() }
                    responses[key] = newValue
                }
            }
        }
    }
}
