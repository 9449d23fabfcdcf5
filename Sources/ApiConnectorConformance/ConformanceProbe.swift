// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTestServers

/// The provider under test and the peer that receives its requests.
struct ConformanceProbe: Sendable {
    let provider: any DataRequestType
    let side: any ConformancePeer

    var log: PeerLog { side.log }

    /// The targets of the received requests, in order.
    var targets: [String] { log.requests.map(\.target) }

    /// The server, in a case that needs one.
    func server() throws -> LoopbackServer {
        guard let side = side as? WirePeer else { throw CaseFailure(description: "the case needs a socket") }
        return side.server
    }

    // MARK: - Asking

    func request(
        _ target: String = "/",
        _ method: HTTPMethod = .get,
        _ body: RequestBody = .empty,
        delivery: ResponseDelivery = .standard
    ) -> ApiRequest {
        ApiRequest(url: side.url(target), method: method, body: body, delivery: delivery)
    }

    /// Sends a request and returns the response with its body.
    ///
    /// The provider itself must apply the request's size limit.
    func send(_ request: ApiRequest) async throws(ApiConnectorError) -> (response: ApiResponse, body: Data) {
        let response = try await provider.response(for: request)
        return (response, try await response.body.collect(upTo: .max))
    }

    /// Sends a request and returns the response's body as text.
    func text(_ request: ApiRequest) async throws(ApiConnectorError) -> String {
        String(decoding: try await send(request).body, as: UTF8.self)
    }

    /// Requests a streamed response.
    func stream(_ target: String = "/") async throws(ApiConnectorError) -> ApiResponse {
        try await provider.response(for: request(target, delivery: .streamed))
    }

    // MARK: - Demanding

    func demand(_ condition: Bool, _ whatWasSeen: @autoclosure () -> String) throws {
        if !condition { throw CaseFailure(description: whatWasSeen()) }
    }

    func demandEqual<Value: Equatable>(_ seen: Value, _ expected: Value, _ what: String) throws {
        try demand(seen == expected, "\(what) is \(seen), not \(expected)")
    }

    /// Requires equal bytes, without printing them.
    func demandBytes(_ seen: Data, _ expected: Data, _ what: String) throws {
        try demand(
            seen == expected,
            "\(what) differs from the expected bytes: \(seen.count) bytes instead of \(expected.count)"
        )
    }

    /// Requires that a call fails with one of the kinds, and that its error names the request.
    ///
    /// With a collected body, the provider itself must throw the error, and return no response.
    @discardableResult
    func demandFailure(of kinds: ApiConnectorError.Kind..., sending request: ApiRequest? = nil) async throws
        -> ApiConnectorError
    {
        let request = request ?? self.request()
        let response: ApiResponse
        do throws(ApiConnectorError) {
            response = try await provider.response(for: request)
            if request.delivery == .streamed { for try await _ in response.body {} }
        } catch {
            try demand(kinds.contains(error.kind), "the call failed as \(error.kind), not \(kinds): \(error)")
            let isNamed = error.request?.method == request.method || request.delivery == .streamed
            try demand(isNamed, "the error does not name its request: \(error)")
            return error
        }
        throw CaseFailure(description: "a failure of \(kinds) was expected, but a response arrived: \(response.status)")
    }

    /// Requires that reading fails with a kind, and returns the bytes before the failure.
    func demandFailure(of kind: ApiConnectorError.Kind, reading body: ResponseBody) async throws -> Data {
        var received = Data()
        do throws(ApiConnectorError) {
            for try await chunk in body { received += chunk }
        } catch {
            try demand(error.kind == kind, "reading failed as \(error.kind), not \(kind): \(error)")
            return received
        }
        throw CaseFailure(description: "reading did not fail as \(kind), but ended after \(received.count) bytes")
    }
}
