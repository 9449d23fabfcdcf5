// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import ApiConnector
import Testing

struct CurlTLSTests {
    private let certificates: TLSCertificates

    init() throws {
        certificates = try TLSCertificates()
    }

    private func send(_ server: TLSServer, _ configure: (inout CurlConfiguration) -> Void) async throws -> ApiResponse {
        var configuration = CurlConfiguration.patient
        configure(&configuration)
        return try await CurlProvider(configuration: configuration).response(for: ApiRequest(url: server.url))
    }

    private func expectRefusal(
        _ words: String,
        by server: TLSServer,
        sourceLocation: SourceLocation = #_sourceLocation,
        _ configure: (inout CurlConfiguration) -> Void
    ) async {
        let error = await #expect(throws: ApiConnectorError.self, sourceLocation: sourceLocation) {
            _ = try await send(server, configure)
        }
        #expect(error?.kind == .secureConnectionFailed, sourceLocation: sourceLocation)
        #expect(error?.detail.contains(words) == true, "\(error?.detail ?? "")", sourceLocation: sourceLocation)
    }

    @Test func trustsACertificateOfAnAuthorityFromAFile() async throws {
        let server = try TLSServer(certificates, "server")
        let response = try await send(server) { $0.certificateAuthorityFile = certificates.authority }
        #expect(response.status == 200)
    }

    @Test func refusesAnUnknownAuthority() async throws {
        let server = try TLSServer(certificates, "server")
        await expectRefusal("signed certificate in certificate chain", by: server) { _ in }
    }

    @Test func refusesAnExpiredCertificate() async throws {
        let server = try TLSServer(certificates, "expired")
        await expectRefusal("certificate has expired", by: server) {
            $0.certificateAuthorityFile = certificates.authority
        }
    }

    @Test func refusesAnotherHostsCertificate() async throws {
        let server = try TLSServer(certificates, "other")
        await expectRefusal("no alternative certificate subject name matches target ", by: server) {
            $0.certificateAuthorityFile = certificates.authority
        }
    }

    @Test func acceptsAPinnedKeyAndRefusesAnyOther() async throws {
        let server = try TLSServer(certificates, "server")
        let right = try #require(PublicKeyPin(sha256: try certificates.pin("server")))
        let wrong = try #require(PublicKeyPin(sha256: try certificates.pin("other")))
        let response = try await send(server) {
            $0.certificateAuthorityFile = certificates.authority
            $0.pinnedPublicKeys = [right, wrong]
        }
        #expect(response.status == 200)
        await expectRefusal("public key does not match pinned public key", by: server) {
            $0.certificateAuthorityFile = certificates.authority
            $0.pinnedPublicKeys = [wrong]
        }
        // A pin is no substitute for a valid certificate.
        await expectRefusal("signed certificate in certificate chain", by: server) {
            $0.pinnedPublicKeys = [right]
        }
    }

    @Test func sendsItsCertificateToAServerThatRequestsIt() async throws {
        let server = try TLSServer(certificates, "server", asksForClientCertificate: true)
        let response = try await send(server) {
            $0.certificateAuthorityFile = certificates.authority
            $0.clientCertificate = TransportConfiguration.ClientCertificate(
                certificateFile: certificates.certificate("client"),
                keyFile: certificates.key("client")
            )
        }
        #expect(response.status == 200)
        await expectRefusal("alert", by: server) { $0.certificateAuthorityFile = certificates.authority }
    }

    @Test func opensAKeyThatIsEncrypted() async throws {
        let server = try TLSServer(certificates, "server", asksForClientCertificate: true)
        let key = try certificates.encryptedKey("client", password: "hush")
        for password in ["hush", "wrong"] {
            let configure: (inout CurlConfiguration) -> Void = {
                $0.certificateAuthorityFile = certificates.authority
                $0.clientCertificate = TransportConfiguration.ClientCertificate(
                    certificateFile: certificates.certificate("client"),
                    keyFile: key,
                    password: password
                )
            }
            if password == "hush" {
                #expect(try await send(server, configure).status == 200)
            } else {
                await expectRefusal("private key", by: server, configure)
            }
        }
    }
}
#endif
