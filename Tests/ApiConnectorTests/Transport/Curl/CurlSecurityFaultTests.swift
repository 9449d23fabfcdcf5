// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import Testing

@testable import ApiConnector

/// Which setting the texts name when TLS fails.
struct CurlSecurityFaultTests {
    private let certificates: TLSCertificates

    init() throws {
        certificates = try TLSCertificates()
    }

    private func client(_ name: String) -> TransportConfiguration.ClientCertificate {
        TransportConfiguration.ClientCertificate(
            certificateFile: certificates.certificate(name),
            keyFile: certificates.key(name)
        )
    }

    private func failure(
        _ url: URL,
        _ configure: (inout CurlConfiguration) -> Void
    ) async -> ApiConnectorError? {
        var configuration = CurlConfiguration.patient
        configuration.certificateAuthorityFile = certificates.authority
        configure(&configuration)
        let provider = CurlProvider(configuration: configuration)
        return await #expect(throws: ApiConnectorError.self) {
            _ = try await provider.response(for: ApiRequest(url: url))
        }
    }

    /// The alert comes after the handshake, or is lost on the way.
    @Test(arguments: ["tls1_2", "tls1_3"] + (Libcurl.hasHTTP2 ? ["tls1_3 -alpn h2"] : []), [false, true])
    func aMissingClientCertificateIsNamed(_ options: String, _ losesAlert: Bool) async throws {
        let server = try TLSServer(certificates, "server", asksForClientCertificate: true, options: "-\(options)")
        let relay = try AlertDroppingRelay(to: server.port)
        for _ in 0..<5 {
            let error = await failure(losesAlert ? relay.url(for: server.url) : server.url) { _ in }
            #expect(error?.kind == .secureConnectionFailed)
            #expect(
                error?.detail.hasPrefix(
                    "the server asks for a client certificate; set clientCertificate (libcurl says: "
                )
                    == true,
                "\(error?.detail ?? "")"
            )
        }
        // Another connection would end in the same way.
        if losesAlert { #expect(relay.connectionCount == 5) }
    }

    @Test(arguments: [false, true]) func aRefusedClientCertificateIsNamed(_ losesAlert: Bool) async throws {
        let stranger = try TLSCertificates()
        let server = try TLSServer(
            certificates,
            "server",
            asksForClientCertificate: true,
            options: "-tls1_3 -verify_return_error"
        )
        let relay = try AlertDroppingRelay(to: server.port)
        let file = stranger.certificate("client")
        let error = await failure(losesAlert ? relay.url(for: server.url) : server.url) {
            $0.clientCertificate = .init(certificateFile: file, keyFile: stranger.key("client"))
        }
        #expect(error?.kind == .secureConnectionFailed)
        let text = "the server refuses the certificate of clientCertificate, \(file.path) (libcurl says: "
        #expect(error?.detail.hasPrefix(text) == true, "\(error?.detail ?? "")")
    }

    @Test func eachFaultySettingIsNamed() async throws {
        let server = try TLSServer(certificates, "server", asksForClientCertificate: true)
        let missing = certificates.folder.appending(path: "none.pem")
        let otherKey = await failure(server.url) {
            $0.clientCertificate = client("client")
            $0.clientCertificate?.keyFile = certificates.key("other")
        }
        let noKey = await failure(server.url) {
            $0.clientCertificate = client("client")
            $0.clientCertificate?.keyFile = missing
        }
        let noCertificate = await failure(server.url) {
            $0.clientCertificate = client("client")
            $0.clientCertificate?.certificateFile = missing
        }
        let noAuthority = await failure(server.url) { $0.certificateAuthorityFile = missing }
        let unknown = await failure(server.url) { $0.certificateAuthorityFile = nil }
        let key = "cannot be read as a PEM key with its password, or is not the key of its certificateFile"
        for (error, start) in [
            (otherKey, "clientCertificate.keyFile, \(certificates.key("other").path), \(key) (libcurl says: "),
            (noKey, "clientCertificate.keyFile, \(missing.path), \(key) (libcurl says: "),
            (
                noCertificate,
                "clientCertificate.certificateFile, \(missing.path), cannot be read as a PEM certificate (libcurl "
                    + "says: "
            ),
            (
                noAuthority,
                "certificateAuthorityFile, \(missing.path), cannot be read as PEM certificates (libcurl says: "
            ),
            (
                unknown,
                "the system does not trust the server's certificate authority; set certificateAuthorityFile to its "
                    + "certificate (libcurl says: "
            ),
        ] {
            #expect(error?.kind == .secureConnectionFailed)
            #expect(error?.detail.hasPrefix(start) == true, "\(error?.detail ?? "")")
        }
    }

    @Test(arguments: [56, 55, 52, 35, 18, 16, 92] as [Int32])
    func aConnectionLostWithoutACertificateRequestIsNotACertificateFault(_ code: Int32) {
        var fault = CurlSecurityFault(code: code, words: "Recv failure: reset", configuration: CurlConfiguration())
        #expect(fault.advice == nil)
        fault.wasAskedForCertificate = true
        #expect(fault.advice == "the server asks for a client certificate; set clientCertificate")
        fault.hasHead = true
        #expect(fault.advice == nil)
    }

    /// A connection that breaks after that is a lost connection.
    @Test(
        arguments: [
            (13, 0x0303, true), (13, 0x0304, true), (4, 0x0303, false), (4, 0x0304, false), (20, 0x0303, false),
            (20, 0x0304, nil), (11, 0x0304, nil), (14, 0x0303, nil),
        ] as [(UInt8, Int32, Bool?)]
    )
    func aServerAsksUntilItHasAcceptedACertificate(_ message: UInt8, _ version: Int32, _ isAsking: Bool?) {
        #expect(CurlTLSWatch.isAsking(after: message, version: version) == isAsking)
    }

    @Test func aWrongPinIsNamed() {
        let fault = CurlSecurityFault(code: 90, words: "", configuration: CurlConfiguration())
        #expect(fault.advice == "the server's key is not in pinnedPublicKeys")
    }

    @Test func aThreadThatCannotBeStartedFailsTheCall() throws {
        let error = #expect(throws: ApiConnectorError.self) {
            _ = try CurlCommandQueue(CurlConfiguration()) { _, _, _ in EAGAIN }
        }
        #expect(error?.kind == .other)
        #expect(
            error?.detail
                == "the event loop cannot be created: pthread_create failed with \"Resource temporarily unavailable\" "
                + "(EAGAIN)"
        )
    }

    @Test func aShortageOfDescriptorsIsNamed() {
        #expect(
            CurlCommandQueue.reason("socket", EMFILE)
                == "socket failed with \"Too many open files\" (EMFILE, the process's "
                + "limit)"
        )
    }
}
#endif
