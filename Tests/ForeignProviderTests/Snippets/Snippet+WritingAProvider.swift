// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Foundation
import Synchronization
import Testing

/// The code of the guide "Writing a provider", compiled against the public API alone.
@Suite(.timeLimit(.minutes(10))) enum WritingAProvider {
    struct Stamped<Wrapped: DataRequestType>: DataRequestType {
        let wrapped: Wrapped

        func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
            var request = request
            request.headers["X-Stamp"] = "1"
            return try await wrapped.response(for: request)
        }
    }

    struct ShopKey<Wrapped: DataRequestType>: DataRequestType {
        let wrapped: Wrapped
        let key: String

        func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
            var request = request
            request.addSecretNames(headerNames: ["X-Shop"])
            request.setCredentials { $0.headers["X-Shop"] = key }
            return try await wrapped.response(for: request)
        }
    }

    enum Tenant: RequestValueKey {
        static let defaultValue = "none"
    }

    struct TwiceAtMost<Wrapped: DataRequestType>: DataRequestType {
        let wrapped: Wrapped
        let buckets = RetryBuckets(RetryBudget())

        func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
            request.shareRetryTokens(buckets)
            if request.isCredentialRefresh || request.isResumption { return try await wrapped.response(for: request) }
            buckets.earn(by: request)
            let start = request.timeSource.now
            let result = await wrapped.outcome(of: request)
            guard case .failure(let error) = result, RetryPolicy.standardKinds.contains(error.kind), !error.isPermanent,
                request.isRepeatable, request.body.isReplayable
            else { return try result.get() }
            guard buckets.take(for: request) else { return try request.endAttempts(with: result, because: .budget) }
            request.report(.retrying(after: .zero, because: error.kind.rawValue))
            var second = request
            second.beginNextAttempt(after: result, duration: request.timeSource.now - start)
            return try await wrapped.response(for: second)
        }
    }

    struct Signed<Wrapped: DataRequestType>: DataRequestType {
        let wrapped: Wrapped
        let sign: @Sendable (URL) async throws -> String

        func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
            var request = request
            try await request.authorize { (request) throws(ApiConnectorError) in
                let url = request.url
                request.headers["X-Signature"] = try await request.withDeadline { try await sign(url) }
            }
            return try await wrapped.response(for: request)
        }
    }

    struct Counted<Wrapped: DataRequestType>: DataRequestType {
        let wrapped: Wrapped

        func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
            var response = try await wrapped.response(for: request)
            response.body = try response.body.transformed(onEnd: { end in
                request.report(.custom("body", details: ["end": "\(end)"]))
            })
            return response
        }
    }

    struct Transport: DataRequestType {
        let exchange: @Sendable (ApiRequest) async throws -> Data

        func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
            try await request.withTimeLimits { (request) throws(ApiConnectorError) in
                let data = try await ApiConnectorError.mapping(request) { try await exchange(request) }
                return ApiResponse(to: request, status: 200, body: ResponseBody(data))
            }
        }
    }

    static func setsAValue(_ api: Connection) async throws {
        let options = CallOptions(values: RequestValues().setting(Tenant.self, to: "acme"))
        _ = try await api.data(at: Route("/a"), options: options)
    }

    static func limitsAttempts(_ provider: some DataRequestType) -> some DataRequestType {
        let quick = provider.rewriting { $0.timeouts.attempt = .seconds(2) }
        return quick
    }

    final class TokenSource: Sendable {
        let fetchToken: @Sendable () async throws -> String

        init(fetchToken: @escaping @Sendable () async throws -> String) {
            self.fetchToken = fetchToken
        }

        func refresh() async throws -> String {
            let token = try await ApiRequest.markingCredentialRefresh(of: self) { try await fetchToken() }
            return token
        }
    }

    static func refreshes(_ accounts: Connection) async throws -> String {
        let options = CallOptions(isCredentialRefresh: true)
        return try await accounts.value(String.self, at: Route("/token", .post), options: options)
    }

    @Test static func aCallPassesThemAll() async throws {
        let seen = Mutex<[String?]>([])
        let transport = Transport { request in
            let names: [HTTPHeaders.Name] = ["X-Stamp", "X-Shop", "X-Signature"]
            seen.withLock { $0 = names.map { request.headers[$0] } }
            return Data("\"done\"".utf8)
        }
        let signed = Signed(wrapped: TwiceAtMost(wrapped: transport)) { _ in "s" }
        let stamped = Stamped(wrapped: ShopKey(wrapped: signed, key: "k"))
        let api = limitsAttempts(Counted(wrapped: stamped)).connected()
        #expect(try await api.value(String.self, at: Route("/a")) == "done")
        #expect(seen.withLock { $0 } == ["1", "k", "s"])
        #expect(try await refreshes(api) == "done")
        try await setsAValue(api)
    }

    @Test static func aSignatureIsForTheConnectionsOwnOrigin() async throws {
        let server = TestConnector { request in
            guard request.url.host() != "cdn.example.com" else {
                return .json(request.headers["X-Signature"] ?? "none")
            }
            return .status(307, headers: ["Location": "http://cdn.example.com/\(request.headers["X-Signature"] ?? "")"])
        }
        let api = Signed(wrapped: server) { "signature-of-\($0.path())" }.connected()
        let response = try await api.response(of: String.self, at: Route("/a"))
        #expect(response.value == "none")
        #expect(response.head.url.path() == "/signature-of-/a")
    }

    @Test static func aRequestOfARefreshIsMarked() async throws {
        let server = TestConnector { .json($0.isCredentialRefresh ? "marked" : "not marked") }
        let api = server.connected()
        let source = TokenSource { try await api.value(String.self, at: Route("/token", .post)) }
        #expect(try await source.refresh() == "marked")
        #expect(try await api.value(String.self, at: Route("/a")) == "not marked")
    }

    @Test static func aFailureThatMayPassIsSentTwice() async throws {
        let arrivals = Arrivals()
        let server = TestConnector { _ in
            arrivals.note() == 1 ? .failure(ApiConnectorError(.connectionLost, "it broke")) : .json("done")
        }
        let api = TwiceAtMost(wrapped: server).connected()
        #expect(try await api.value(String.self, at: Route("/a")) == "done")
        #expect(arrivals.total == 2)
    }
}
