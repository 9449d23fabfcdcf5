// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import Testing

/// One configuration for both transports.
struct TransportConfigurationTests {
    static let makers: [@Sendable (TransportConfiguration) -> AnyProvider] = [
        { AnyProvider(SystemProvider(configuration: $0)) }, { AnyProvider(URLSessionProvider(configuration: $0)) },
    ]

    private func text(_ provider: AnyProvider, _ url: URL) async throws -> String {
        let response = try await provider.response(for: ApiRequest(url: url))
        return String(decoding: try await response.body.collect(upTo: 1000), as: UTF8.self)
    }

    @Test(arguments: [false, true]) func keepsCookiesAsConfigured(_ keeps: Bool) async throws {
        let server = try LoopbackServer { connection in
            while let request = try connection.readRequest() {
                let body = request.header("Cookie") ?? "none"
                try connection.send(
                    "HTTP/1.1 200 OK\r\nSet-Cookie: tea=green\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
                )
            }
        }
        var configuration = TransportConfiguration()
        if keeps { configuration.cookies = .inMemory }
        for make in Self.makers {
            let provider = make(configuration)
            #expect(try await text(provider, server.url()) == "none")
            #expect(try await text(provider, server.url()) == (keeps ? "tea=green" : "none"))
        }
    }

    #if os(Linux)
    struct Refusal: Sendable, CustomTestStringConvertible {
        let setting: String
        let deed: String
        let set: @Sendable (inout TransportConfiguration) -> Void
        var testDescription: String { setting }
    }

    private static let file = URL(fileURLWithPath: "/authority.pem")

    static let refusals = [
        Refusal(setting: "certificateAuthorityFile", deed: "trust a file's certificates") {
            $0.certificateAuthorityFile = file
        },
        Refusal(setting: "clientCertificate", deed: "read a client certificate from files") {
            $0.clientCertificate = .init(certificateFile: file, keyFile: file)
        },
        Refusal(setting: "pinnedPublicKeys", deed: "check the server's key") {
            $0.pinnedPublicKeys = Set([PublicKeyPin(sha256: String(repeating: "A", count: 43) + "=")].compactMap { $0 })
        },
        Refusal(setting: "proxy", deed: "use a proxy other than the environment's") { $0.proxy = .none },
        Refusal(setting: "proxy", deed: "use a proxy other than the environment's") { $0.proxy = .url(file) },
    ]

    @Test(arguments: refusals) func aSessionRefusesUnsupportedSettingsAndSendsNothing(_ refusal: Refusal) async throws {
        let server = try LoopbackServer.responding { _ in .text("sent") }
        var configuration = TransportConfiguration()
        refusal.set(&configuration)
        let provider = URLSessionProvider(configuration: configuration)
        let error = await #expect(throws: ApiConnectorError.self) {
            try await provider.response(for: ApiRequest(url: server.url()))
        }
        #expect(error?.kind == .invalidRequest)
        #expect(
            error?.detail
                == "TransportConfiguration.\(refusal.setting) is set, and URLSession cannot \(refusal.deed) on this "
                + "platform; CurlProvider can, which SystemProvider uses where the package's trait Curl is on"
        )
        #expect(server.connectionCount == 0)
    }

    /// The kinds agree, and the text names the proxy and the variable.
    @Test func aProxyOfTheEnvironmentWithoutAnAddressIsNamedByBothTransports() async {
        await #expect(processExitsWith: .success) {
            setenv("http_proxy", "http://user:hush@proxy.invalid:3128", 1)
            let request = ApiRequest(url: try #require(URL(string: "http://api.example.com/")))
            for make in Self.makers {
                let error = await #expect(throws: ApiConnectorError.self) {
                    try await make(TransportConfiguration()).response(for: request)
                }
                try #require(error?.kind == .nameNotResolved)
                let text = error?.description ?? ""
                try #require(
                    text.contains(
                        "the proxy proxy.invalid:3128, set by the environment variable http_proxy, has no address"
                    )
                )
                try #require(text.contains("Check the environment variable http_proxy;"))
                try #require(!text.contains("hush") && !"\(String(describing: error?.underlying))".contains("hush"))
            }
        }
    }

    @Test func aProxyOfTheEnvironmentThatIsDownIsNamedByBothTransports() async {
        await #expect(processExitsWith: .success) {
            let port = try RefusingPort()
            setenv("http_proxy", "http://127.0.0.1:\(port.number)", 1)
            let request = ApiRequest(url: try #require(URL(string: "http://api.example.com/")))
            for make in Self.makers {
                let error = await #expect(throws: ApiConnectorError.self) {
                    try await make(TransportConfiguration()).response(for: request)
                }
                try #require(error?.kind == .cannotConnect)
                try #require(error?.detail.contains("the proxy 127.0.0.1:\(port.number), set by") == true)
            }
        }
    }

    @Test(arguments: [403, 407]) func aProxyOfTheEnvironmentThatRefusesIsNamedByBothTransports(_ status: Int) async {
        await #expect(processExitsWith: .success) { [status] in
            let proxy = try LoopbackServer { connection in
                _ = try connection.readHead()
                try connection.send("HTTP/1.1 \(status) No\r\nContent-Length: 0\r\n\r\n")
            }
            setenv("https_proxy", proxy.url().absoluteString, 1)
            let request = ApiRequest(url: try #require(URL(string: "https://api.example.com/")))
            for make in Self.makers {
                var streamed = request
                streamed.delivery = .streamed
                let answer = await make(TransportConfiguration()).result(for: streamed)
                guard case .failure(let refusal) = answer else { throw CancellationError() }
                try #require(refusal.kind == .cannotConnect)
                let error = await #expect(throws: ApiConnectorError.self) {
                    try await make(TransportConfiguration()).response(for: request)
                }
                try #require(error?.kind == .cannotConnect)
                try #require(error?.detail.contains("it responded to CONNECT with the status \(status)") == true)
            }
        }
    }
    #endif

    #if os(Linux)
    /// Foundation delivers the head of the answer to CONNECT as that of the server.
    @Test func aProxyThatClosesAfterConnectIsAFailure() async {
        await #expect(processExitsWith: .success) {
            let proxy = try LoopbackServer { connection in
                _ = try connection.readHead()
                try connection.send("HTTP/1.1 200 Connection established\r\n\r\n")
            }
            setenv("https_proxy", proxy.url().absoluteString, 1)
            var request = ApiRequest(url: try #require(URL(string: "https://api.example.com/")))
            request.delivery = .streamed
            for make in Self.makers {
                guard case .failure = await make(TransportConfiguration()).result(for: request) else {
                    throw CancellationError()
                }
                // Before libcurl 7.88, a session raises it. A SystemProvider never does.
                signal(SIGPIPE, SIG_IGN)
            }
        }
    }
    #endif

    #if Curl && os(Linux)
    @Test func aProxyOfTheConfigurationIsUsedDespiteNoProxy() async {
        await #expect(processExitsWith: .success) {
            setenv("no_proxy", "*", 1)
            let proxy = try LoopbackServer.responding { .text($0.target) }
            var configuration = TransportConfiguration()
            configuration.proxy = .url(proxy.url())
            let request = ApiRequest(url: try #require(URL(string: "http://nowhere.invalid/a")))
            let response = try await SystemProvider(configuration: configuration).response(for: request)
            try #require(try await response.body.collect(upTo: 100) == Data("http://nowhere.invalid/a".utf8))
        }
    }

    @Test func theSystemsProviderGoesThroughAProxy() async throws {
        let proxy = try LoopbackServer.responding { .text($0.target) }
        var configuration = TransportConfiguration()
        configuration.proxy = .url(proxy.url())
        let url = try #require(URL(string: "http://nowhere.invalid/a"))
        #expect(try await text(AnyProvider(SystemProvider(configuration: configuration)), url) == url.absoluteString)
    }

    @Test func theSystemsProviderTrustsAnAuthorityPinsAKeyAndShowsItsCertificate() async throws {
        let certificates = try TLSCertificates()
        let server = try TLSServer(certificates, "server", asksForClientCertificate: true)
        var configuration = TransportConfiguration()
        configuration.certificateAuthorityFile = certificates.authority
        configuration.pinnedPublicKeys = [try #require(PublicKeyPin(sha256: try certificates.pin("server")))]
        configuration.clientCertificate = TransportConfiguration.ClientCertificate(
            certificateFile: certificates.certificate("client"),
            keyFile: certificates.key("client")
        )
        let provider = SystemProvider(configuration: configuration)
        #expect(try await provider.response(for: ApiRequest(url: server.url)).status == 200)
        configuration.pinnedPublicKeys = [try #require(PublicKeyPin(sha256: try certificates.pin("other")))]
        let error = await #expect(throws: ApiConnectorError.self) {
            try await SystemProvider(configuration: configuration).response(for: ApiRequest(url: server.url))
        }
        #expect(error?.kind == .secureConnectionFailed)
    }

    @Test func libcurlsConfigurationContainsThePortableOne() {
        var portable = TransportConfiguration()
        portable.cookies = .inMemory
        var configuration = CurlConfiguration(portable)
        #expect(configuration.cookies == .inMemory)
        configuration.proxy = .none
        #expect(configuration.transport.proxy == .none)
        #expect(configuration != CurlConfiguration(portable))
    }
    #endif
}
