// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import Testing

/// A server that requires HTTP/1.1 for a request that came over HTTP/2 (RFC 9113, section 7, HTTP_1_1_REQUIRED).
@Suite(.needsHTTP2) struct CurlDowngradeTests {
    /// How the server refuses a request.
    enum Refusal: String, CaseIterable {
        case reset
        /// A GOAWAY with the error HTTP_1_1_REQUIRED that names no stream as processed.
        case unprocessed
        /// A part of a response, and then the reset.
        case afterTheHead
    }

    private let certificates: TLSCertificates
    private let http1: LoopbackServer

    init() throws {
        certificates = try TLSCertificates()
        http1 = try LoopbackServer.responding { _ in .text("1") }
    }

    /// An HTTP/2 server that refuses all requests.
    private func http2(_ refusal: Refusal) throws -> LoopbackServer {
        try LoopbackServer { connection in
            try connection.serveHTTP2 { stream in
                switch refusal {
                case .reset: break
                case .unprocessed: return try connection.send(.goAway(last: 0, error: HTTP2Frame.http1Required))
                case .afterTheHead:
                    try connection.send(HTTP2Frame(type: 1, flags: 4, stream: stream, payload: [0x88]))
                    try connection.send(HTTP2Frame(type: 0, stream: stream, payload: Array("2".utf8)))
                }
                try connection.send(.reset(stream, code: HTTP2Frame.http1Required))
            }
        }
    }

    private func provider(_ change: (inout CurlConfiguration) -> Void = { _ in }) -> CurlProvider {
        var configuration = CurlConfiguration.patient
        configuration.certificateAuthorityFile = certificates.authority
        change(&configuration)
        return CurlProvider(configuration: configuration)
    }

    private func body(
        _ provider: CurlProvider,
        _ method: HTTPMethod,
        _ relay: TLSRelay,
        _ delivery: ResponseDelivery = .standard
    ) async throws -> String {
        let body = method == .get ? RequestBody.empty : .text("body")
        let request = ApiRequest(url: relay.url, method: method, body: body, delivery: delivery)
        return String(decoding: try await provider.response(for: request).body.collect(upTo: 100), as: UTF8.self)
    }

    /// From 8.3 on, libcurl may open a second connection over HTTP/2 before it asks whether to send the request.
    private static func withoutIdleConnections(_ protocols: [String]) -> [String] {
        guard Libcurl.version >= 0x08_03_00, protocols.count(where: { $0 == "h2" }) == 2 else { return protocols }
        return Array(Set(protocols)).sorted()
    }

    @Test(.needsTexts, arguments: Refusal.allCases, [.get, .put] as [HTTPMethod])
    func anIdempotentRequestGoesOnOverHTTP1(_ refusal: Refusal, _ method: HTTPMethod) async throws {
        let http2 = try http2(refusal)
        let relay = try TLSRelay(certificates, [("h2", http2.port), ("http/1.1", http1.port)])
        let provider = provider()
        do {
            #expect(try await body(provider, method, relay) == "1")
        } catch {
            // libcurl 7.88 may have dropped what came with the reset, and otherwise the response has begun.
            #expect(refusal == .afterTheHead, "\(error)")
        }
        // The origin is remembered, and its connection is reused.
        for _ in 0..<3 { #expect(try await body(provider, .post, relay) == "1") }
        // The connection of a request that must not be sent again is not used.
        let protocols = refusal == .afterTheHead ? Array(relay.protocols.prefix(2)) : relay.protocols
        #expect(Self.withoutIdleConnections(protocols) == ["h2", "http/1.1"])
    }

    @Test(.needsTexts) func aPostThatWasNotProcessedGoesOnOverHTTP1() async throws {
        let http2 = try http2(.unprocessed)
        let relay = try TLSRelay(certificates, [("h2", http2.port), ("http/1.1", http1.port)])
        #expect(try await body(provider(), .post, relay) == "1")
        #expect(Self.withoutIdleConnections(relay.protocols) == ["h2", "http/1.1"])
        #expect(http1.requests.count == 1)
    }

    @Test(.needsTexts, arguments: [.reset, .afterTheHead] as [Refusal])
    func aPostThatMayHaveBeenProcessedSaysHowToUseHTTP1(_ refusal: Refusal) async throws {
        let http2 = try http2(refusal)
        let relay = try TLSRelay(certificates, [("h2", http2.port), ("http/1.1", http1.port)])
        let provider = provider()
        let error = await #expect(throws: ApiConnectorError.self) { try await body(provider, .post, relay) }
        #expect(error?.kind == .other, "\(error?.detail ?? "")")
        #expect(error?.isPermanent == true)
        #expect(error?.detail.contains("HTTP_1_1_REQUIRED") == true)
        #expect(error.map { "\($0)".contains("CurlConfiguration.httpVersion") } == true)
        #expect(http1.requests.isEmpty)
        #expect(try await body(provider, .post, relay) == "1")
        #expect(http1.requests.count == 1)
    }

    /// libcurl has read a part of the response, so that the request is not sent again.
    @Test(.needsTexts, arguments: [.get, .put] as [HTTPMethod])
    func theErrorOfAResponseThatHasBegunSaysSo(_ method: HTTPMethod) async throws {
        let http2 = try LoopbackServer { connection in
            try connection.serveHTTP2 { stream in
                try connection.send(HTTP2Frame(type: 1, flags: 4, stream: stream, payload: [0x88]))
                try connection.send(HTTP2Frame(type: 0, stream: stream, payload: Array("2".utf8)))
                try connection.send(.ping)
                try connection.readPingAcknowledgment()
                try connection.send(.reset(stream, code: HTTP2Frame.http1Required))
            }
        }
        let relay = try TLSRelay(certificates, [("h2", http2.port), ("http/1.1", http1.port)])
        let provider = provider()
        let error = await #expect(throws: ApiConnectorError.self) { try await body(provider, method, relay) }
        #expect(
            error?.detail
                == "the server requires HTTP/1.1 for this request (HTTP_1_1_REQUIRED), but its response has already "
                + "begun, so the request is not sent again"
        )
        #expect(http1.requests.isEmpty)
    }

    /// If the part of the first response has reached the reader, no second response may follow it.
    @Test func aStreamNeverHasPartsOfTwoResponses() async throws {
        let http2 = try http2(.afterTheHead)
        let relay = try TLSRelay(certificates, [("h2", http2.port), ("http/1.1", http1.port)])
        let provider = provider { $0.streamsOverHTTP2 = true }
        let text = try? await body(provider, .get, relay, .streamed)
        // libcurl 7.88 may have dropped what came with the reset, so that the request was sent again.
        #expect(text == nil || text == "1")
    }
}
#endif
