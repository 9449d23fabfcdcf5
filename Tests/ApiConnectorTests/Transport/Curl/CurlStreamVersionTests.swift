// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import Testing

/// The HTTP version of streams and downloads over TLS.
@Suite(.needsHTTP2) struct CurlStreamVersionTests {
    private let certificates: TLSCertificates
    private let http1: LoopbackServer
    private let http2: LoopbackServer

    init() throws {
        certificates = try TLSCertificates()
        http1 = try LoopbackServer.responding { _ in .text("1") }
        http2 = try LoopbackServer { connection in
            try connection.serveHTTP2 { stream in
                try connection.send(HTTP2Frame(type: 1, flags: 4, stream: stream, payload: [0x88]))
                try connection.send(HTTP2Frame(type: 0, flags: 1, stream: stream, payload: Array("2".utf8)))
            }
        }
    }

    private var provider: CurlProvider {
        var configuration = CurlConfiguration.patient
        configuration.certificateAuthorityFile = certificates.authority
        return CurlProvider(configuration: configuration)
    }

    private func body(_ provider: CurlProvider, _ relay: TLSRelay, _ method: HTTPMethod = .get) async throws -> String {
        let request = ApiRequest(url: relay.url, method: method, delivery: .streamed)
        return String(decoding: try await provider.response(for: request).body.collect(upTo: 100), as: UTF8.self)
    }

    @Test func aStreamUsesHTTP1IfTheServerHasBoth() async throws {
        let relay = try TLSRelay(certificates, [("h2", http2.port), ("http/1.1", http1.port)])
        #expect(try await body(provider, relay) == "1")
        #expect(relay.protocols == ["http/1.1"])
    }

    /// The handshake refuses HTTP/1.1, so nothing was sent, and also a POST goes on.
    @Test(arguments: [.get, .post] as [HTTPMethod])
    func aStreamUsesHTTP2IfTheServerHasNothingElse(_ method: HTTPMethod) async throws {
        let relay = try TLSRelay(certificates, [("h2", http2.port)])
        let provider = provider
        #expect(try await body(provider, relay, method) == "2")
        // The second handshake may be recorded first.
        #expect(relay.protocols.sorted() == ["h2", "none"])
        // The origin is remembered.
        #expect(try await body(provider, relay, method) == "2")
        #expect(relay.protocols.sorted() == ["h2", "none"])
    }

    @Test func aDownloadUsesHTTP2IfTheServerHasNothingElse() async throws {
        let relay = try TLSRelay(certificates, [("h2", http2.port)])
        let api = NetworkConnector(
            environment: Place(),
            provider: provider,
            router: Endpoint<ApiPath>.self,
            configuration: .patient
        )
        let file = certificates.folder.appending(path: "download")
        _ = try await api.download(at: relay.url, to: file).file()
        #expect(try String(contentsOf: file, encoding: .utf8) == "2")
    }

    /// The server agrees to HTTP/1.1, and answers with a frame of HTTP/2.
    @Test func anAnswerInHTTP2NamesTheSetting() async throws {
        let relay = try TLSRelay(certificates, [("http/1.1", http2.port)])
        let error = await #expect(throws: ApiConnectorError.self) { try await body(provider, relay) }
        #expect(error?.kind == .malformedResponse)
        #expect(error.map { "\($0)".contains("CurlConfiguration.streamsOverHTTP2") } == true, "\(error?.detail ?? "")")
    }
}
#endif
