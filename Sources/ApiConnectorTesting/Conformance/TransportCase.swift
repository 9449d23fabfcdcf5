// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector

/// One thing that any transport must do, over a real socket: what the server does, and what the caller must see.
package struct TransportCase: Sendable, CustomStringConvertible {
    /// The claim.
    package let description: String

    private let serve: @Sendable (LoopbackConnection) throws -> Void
    private let check: @Sendable (TransportProbe) async throws -> Void

    init(
        _ description: String,
        serve: @escaping @Sendable (LoopbackConnection) throws -> Void,
        check: @escaping @Sendable (TransportProbe) async throws -> Void
    ) {
        self.description = description
        self.serve = serve
        self.check = check
    }

    /// Runs the case against a server of its own.
    ///
    /// - Throws: ``CaseFailure`` where the transport does something else, or what it threw unexpectedly.
    package func run(over provider: some DataRequestType) async throws {
        let server = try LoopbackServer(serve)
        defer { server.stop() }
        try await check(TransportProbe(provider: provider, server: server))
    }

    /// Every case.
    package static let all = requests + responses + statuses + failures + cancelling
}

/// What a case saw and did not expect.
package struct CaseFailure: Error, CustomStringConvertible {
    /// What was seen.
    package let description: String
}

/// The transport under test and the server that it talks to.
struct TransportProbe: Sendable {
    let provider: any DataRequestType
    let server: LoopbackServer

    func request(_ method: HTTPMethod = .get, _ path: String = "/", body: RequestBody = .empty) -> ApiRequest {
        ApiRequest(url: server.url(path), method: method, body: body)
    }

    /// Sends a request and gives the response with its body.
    func send(_ request: ApiRequest) async throws(ApiConnectorError) -> (response: ApiResponse, body: Data) {
        let response = try await provider.response(for: request)
        return (response, try await response.body.collect(upTo: request.delivery.maximumByteCount))
    }

    /// Demands a failure of one of some kinds.
    func demandFailure(of kinds: ApiConnectorError.Kind..., sending request: ApiRequest? = nil) async throws {
        let request = request ?? self.request()
        let body: Data
        do {
            body = try await send(request).body
        } catch {
            try demand(kinds.contains(error.kind), "it failed as \(error.kind), not \(kinds): \(error)")
            try demand(error.request?.method == request.method, "the error does not name its request: \(error)")
            return
        }
        throw CaseFailure(description: "a failure of \(kinds) was expected, and a body of \(body.count) bytes came")
    }

    func demand(_ condition: Bool, _ whatWasSeen: @autoclosure () -> String) throws {
        if !condition { throw CaseFailure(description: whatWasSeen()) }
    }

    func demandEqual<Value: Equatable>(_ seen: Value, _ expected: Value, _ what: String) throws {
        try demand(seen == expected, "\(what) is \(seen), not \(expected)")
    }
}
