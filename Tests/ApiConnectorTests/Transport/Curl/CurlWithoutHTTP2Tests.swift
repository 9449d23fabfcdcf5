// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import ApiConnectorTestServers
import ApiConnectorTesting
import Testing

@testable import ApiConnector

/// Calls over a libcurl whose HTTP/2 the library does not use.
struct CurlWithoutHTTP2Tests {
    private func configuration(_ certificates: TLSCertificates) -> CurlConfiguration {
        var configuration = CurlConfiguration.patient
        configuration.certificateAuthorityFile = certificates.authority
        return configuration
    }

    /// Both protocols of the handshake lead to a server of HTTP/1.1.
    private func protocols(
        _ configuration: CurlConfiguration,
        _ certificates: TLSCertificates,
        _ delivery: ResponseDelivery
    ) async throws -> [String] {
        let server = try LoopbackServer.responding { _ in .text("1") }
        // In release the server would end with its last use, which is before the calls.
        defer { withExtendedLifetime(server) {} }
        let relay = try TLSRelay(certificates, [("h2", server.port), ("http/1.1", server.port)])
        let provider = CurlProvider(configuration: configuration)
        for method in [.get, .post, .get] as [HTTPMethod] {
            let request = ApiRequest(url: relay.url, method: method, delivery: delivery)
            let response = try await provider.response(for: request)
            #expect(try await response.body.collect(upTo: 100) == Data("1".utf8))
        }
        return relay.protocols
    }

    /// The version that the default becomes there also works over every other libcurl.
    @Test(arguments: [.standard, .streamed] as [ResponseDelivery])
    func aServerWithBothVersionsGetsHTTP1(_ delivery: ResponseDelivery) async throws {
        let certificates = try TLSCertificates()
        var configuration = configuration(certificates)
        configuration.httpVersion = configuration.httpVersion.supported(hasHTTP2: false)
        let protocols = try await protocols(configuration, certificates, delivery)
        #expect(Set(protocols) == ["http/1.1"])
    }

    @Test(.needsNoHTTP2, arguments: [.standard, .streamed] as [ResponseDelivery])
    func theDefaultUsesHTTP1IfTheServerHasBoth(_ delivery: ResponseDelivery) async throws {
        let certificates = try TLSCertificates()
        let protocols = try await protocols(configuration(certificates), certificates, delivery)
        #expect(Set(protocols) == ["http/1.1"])
    }

    @Test(.needsNoHTTP2) func aConfigurationThatDemandsHTTP2FailsTheCall() async throws {
        let version = try #require(CurlVersion.loaded)
        let server = try LoopbackServer.responding { _ in .text("1") }
        var configuration = CurlConfiguration.patient
        configuration.httpVersion = .http2PriorKnowledge
        let provider = CurlProvider(configuration: configuration)
        let error = await #expect(throws: ApiConnectorError.self) {
            try await provider.response(for: ApiRequest(url: server.url()))
        }
        #expect(error?.kind == .invalidRequest)
        let start = "HTTP/2 needs libcurl 7.88, or 8.3 or later, but libcurl.so.4 is \(version)"
        #expect(error?.detail.hasPrefix(start) == true, "\(error?.detail ?? "")")
        #expect(server.connectionCount == 0)
    }
}
#endif
