// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import ApiConnector
import Testing

@Suite struct CurlTLSTests {
    private let certificates: TLSCertificates

    init() throws {
        certificates = try TLSCertificates()
    }

    private func send(_ server: TLSServer, _ configure: (inout CurlConfiguration) -> Void) async throws -> ApiResponse {
        var configuration = CurlConfiguration()
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
        await expectRefusal("self-signed certificate in certificate chain", by: server) { _ in }
    }

    @Test func refusesAnExpiredCertificate() async throws {
        let server = try TLSServer(certificates, "expired")
        await expectRefusal("certificate has expired", by: server) {
            $0.certificateAuthorityFile = certificates.authority
        }
    }

    @Test func refusesAnotherHostsCertificate() async throws {
        let server = try TLSServer(certificates, "other")
        await expectRefusal("no alternative certificate subject name matches target host name", by: server) {
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
        await expectRefusal("self-signed certificate in certificate chain", by: server) {
            $0.pinnedPublicKeys = [right]
        }
    }

    @Test func showsItsCertificateToAServerThatAsks() async throws {
        let server = try TLSServer(certificates, "server", asksForClientCertificate: true)
        let response = try await send(server) {
            $0.certificateAuthorityFile = certificates.authority
            $0.clientCertificate = CurlConfiguration.ClientCertificate(
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
                $0.clientCertificate = CurlConfiguration.ClientCertificate(
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

/// Certificates made by openssl in a folder of their own.
private final class TLSCertificates: Sendable {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "tls-\(UUID().uuidString)")

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try openssl(
            "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=Test-CA "
                + "-keyout ca.key -out ca.pem"
        )
        try issue("server", for: "IP:127.0.0.1", days: 2)
        try issue("expired", for: "IP:127.0.0.1", days: -1)
        try issue("other", for: "DNS:other.test", days: 2)
        try issue("client", for: "DNS:client.test", days: 2)
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    var authority: URL { folder.appending(path: "ca.pem") }

    func certificate(_ name: String) -> URL { folder.appending(path: "\(name).pem") }

    func key(_ name: String) -> URL { folder.appending(path: "\(name).key") }

    /// A copy of a key that only its password opens.
    func encryptedKey(_ name: String, password: String) throws -> URL {
        try openssl("pkey -in \(name).key -aes256 -passout pass:\(password) -out \(name).locked")
        return folder.appending(path: "\(name).locked")
    }

    /// The SHA-256 of a certificate's public key, by openssl alone.
    func pin(_ name: String) throws -> String {
        try openssl("x509 -in \(name).pem -pubkey -noout -out \(name).pub")
        try openssl("pkey -pubin -in \(name).pub -outform der -out \(name).spki")
        try openssl("dgst -sha256 -binary -out \(name).sha256 \(name).spki")
        return try Data(contentsOf: folder.appending(path: "\(name).sha256")).base64EncodedString()
    }

    private func issue(_ name: String, for subject: String, days: Int) throws {
        try Data("subjectAltName=\(subject)".utf8).write(to: folder.appending(path: "\(name).ext"))
        try openssl(
            "req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=\(name) "
                + "-keyout \(name).key -out \(name).csr"
        )
        try openssl(
            "x509 -req -in \(name).csr -CA ca.pem -CAkey ca.key -CAcreateserial -days \(days) "
                + "-extfile \(name).ext -out \(name).pem"
        )
    }

    private func openssl(_ arguments: String) throws {
        let shell = try Shell("cd '\(folder.path)' && openssl \(arguments) >/dev/null")
        try #require(shell.end() == 0, "openssl \(arguments)")
    }
}

/// `openssl s_server` on a free port; answers every request with a page about the connection.
private final class TLSServer {
    let url: URL
    private let processID: pid_t
    private let shell: Shell

    init(_ certificates: TLSCertificates, _ name: String, asksForClientCertificate: Bool = false) throws {
        let shell = try Shell(
            "echo $$; exec openssl s_server -accept 127.0.0.1:0 -www -CAfile '\(certificates.authority.path)' "
                + "-cert '\(certificates.certificate(name).path)' -key '\(certificates.key(name).path)'"
                + (asksForClientCertificate ? " -Verify 1" : "")
        )
        processID = try #require(shell.line().flatMap { pid_t($0) })
        var line = shell.line()
        while let text = line, !text.hasPrefix("ACCEPT") { line = shell.line() }
        let port = try #require(line?.split(separator: ":").last, "s_server did not start")
        url = try #require(URL(string: "https://127.0.0.1:\(port)/"))
        self.shell = shell
    }

    deinit {
        kill(processID, SIGKILL)
    }
}
#endif
