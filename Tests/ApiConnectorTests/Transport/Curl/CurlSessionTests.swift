// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import Testing

@testable import ApiConnector

/// TLS sessions, which save a new connection the check of the certificates.
struct CurlSessionTests {
    @Test(arguments: ["tls1_2", "tls1_3"]) func aNewConnectionResumesTheSession(_ version: String) async throws {
        let certificates = try TLSCertificates()
        let server = try TLSServer(certificates, "server", options: "-\(version)")
        var configuration = CurlConfiguration.patient
        configuration.certificateAuthorityFile = certificates.authority
        let provider = CurlProvider(configuration: configuration)
        var areResumed: [Bool] = []
        for _ in 0..<3 {
            // The server closes after each response, whose text begins a line with "New" or "Reused".
            let page = try await provider.response(for: ApiRequest(url: server.url)).body.collect(upTo: 100_000)
            let text = String(decoding: page, as: UTF8.self)
            #expect(text.contains("\nNew, ") != text.contains("\nReused, "), "\(text)")
            areResumed.append(text.contains("\nReused, "))
        }
        #expect(areResumed == [false, true, true])
    }
}
#endif
