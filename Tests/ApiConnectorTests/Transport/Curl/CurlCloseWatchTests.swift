// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import Testing

@testable import ApiConnector

/// The end of a body over TLS.
struct CurlCloseWatchTests {
    private let certificates: TLSCertificates
    private let provider: CurlProvider

    init() throws {
        certificates = try TLSCertificates()
        var configuration = CurlConfiguration.patient
        configuration.certificateAuthorityFile = certificates.authority
        provider = CurlProvider(configuration: configuration)
    }

    private static let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"

    private func server(_ version: String, _ fields: String, _ body: String) throws -> TLSServer {
        try TLSServer(
            certificates,
            "server",
            options: "-\(version)",
            response: Self.head + fields + "\r\n" + body
        )
    }

    private func body(_ url: URL, _ delivery: ResponseDelivery) async throws -> Data {
        var request = ApiRequest(url: url)
        request.delivery = delivery
        return try await provider.response(for: request).body.collect(upTo: 100)
    }

    @Test(arguments: ["tls1_2", "tls1_3"], [ResponseDelivery.collected(upTo: 1000), ResponseDelivery.streamed])
    func refusesABodyWithoutALengthThatIsCut(_ version: String, _ delivery: ResponseDelivery) async throws {
        let server = try server(version, "", "half")
        let relay = try AlertDroppingRelay(to: server.port)
        #expect(try await body(server.url, delivery) == Data("half".utf8))
        let error = await #expect(throws: ApiConnectorError.self) {
            _ = try await body(relay.url(for: server.url), delivery)
        }
        #expect(error?.kind == .connectionLost)
        #expect(
            error?.detail
                == "the server closed the TLS connection without close_notify, and the response has no Content-Length, "
                + "so that some of the body may be missing"
        )
    }

    @Test(
        arguments: ["tls1_2", "tls1_3"],
        [
            ("Content-Length: 4\r\n", "half"), ("Transfer-Encoding: chunked\r\n", "4\r\nhalf\r\n0\r\n\r\n"),
            ("Transfer-Encoding: chunked\r\nConnection: close\r\n", "4\r\nhalf\r\n0\r\n\r\n"),
        ]
    )
    func acceptsABodyWithAMarkedEnd(_ version: String, _ framed: (fields: String, body: String)) async throws {
        let server = try server(version, framed.fields, framed.body)
        let relay = try AlertDroppingRelay(to: server.port)
        // The server closes after each response, so that later calls find a connection that was cut while it was idle.
        for _ in 0..<5 {
            #expect(try await body(relay.url(for: server.url), .collected(upTo: 1000)) == Data("half".utf8))
        }
    }

    @Test(arguments: [
        ("OpenSSL/3.0.19", "3"), ("OpenSSL/1.1.1n", "1.1"), ("(GnuTLS/3.7.9) OpenSSL/3.2.0", "3"),
        ("GnuTLS/3.7.9", nil), ("(OpenSSL/3.0.19) GnuTLS/3.7.9", nil), ("LibreSSL/3.8.2", nil), ("OpenSSL/", nil),
    ])
    func knowsWhichOpenSSLLibcurlUses(_ text: String, _ version: String?) {
        #expect(CurlOpenSSL.version(in: text) == version)
    }
}
#endif
