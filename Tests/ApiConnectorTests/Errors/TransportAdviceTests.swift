// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnectorTesting
import Testing

@testable import ApiConnector

/// The advice in an error's text when a connection cannot be opened.
struct TransportAdviceTests {
    @Test(arguments: Wire.secureSockets)
    func tlsToAPortWithoutItNamesTheScheme(_ wire: Wire) async throws {
        let server = try LoopbackServer { connection in
            // A handshake has no line's end to wait for.
            try connection.send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
            try connection.waitUntilPeerCloses()
        }
        let url = try #require(URL(string: "https://\(LoopbackServer.host):\(server.port)/"))
        let error = try await failure { () throws(ApiConnectorError) in
            try await wire.transport.response(for: ApiRequest(url: url))
        }
        #expect(error.kind == .secureConnectionFailed)
        #expect(
            error.description.hasSuffix(
                "The request used https, but port \(server.port) does not use TLS: set the environment's scheme to http, "
                    + "or its port to the https port."
            ),
            "\(error)"
        )
    }

    /// A session of Apple's systems says it in these words.
    @Test func aPinOfASessionThatDoesNotMatchNamesItsSetting() {
        let pins = URLSessionPins(keys: [])
        #expect(
            pins.advice(about: URLSessionPins.isNotPinned)
                == "If the server has a new key, add its pin to pinnedPublicKeys."
        )
        #expect(pins.advice(about: "the server's certificate is not trusted") == nil)
    }

    @Test func onlyALossInTheHandshakeIsAboutTheScheme() throws {
        let words = "Recv failure: Connection reset by peer"
        let secure = try #require(URL(string: "https://api.example.com/me"))
        let advice = TransferErrors.advice(ofWords: words, at: secure, isInHandshake: true)
        #expect(
            advice
                == "The request used https, and port 443 hung up in the TLS handshake: if it does not use TLS, set the "
                + "environment's scheme to http."
        )
        #expect(TransferErrors.advice(ofWords: words, at: secure, isInHandshake: false) == nil)
        let alert = "error:0A00042E:SSL routines::tlsv1 alert protocol version"
        #expect(TransferErrors.advice(ofWords: alert, at: secure, isInHandshake: true) == nil)
        let plain = try #require(URL(string: "http://api.example.com:80/me"))
        #expect(TransferErrors.adviceWithoutTLS(52, at: plain) == nil)
    }

    #if Curl && os(Linux)
    @Test func aPortThatHangsUpInTheHandshakeNamesTheScheme() async throws {
        let server = try LoopbackServer { connection in _ = try connection.read(5) }
        let url = try #require(URL(string: "https://\(LoopbackServer.host):\(server.port)/"))
        let error = try await failure { () throws(ApiConnectorError) in
            try await CurlProvider().response(for: ApiRequest(url: url))
        }
        #expect(error.kind == .secureConnectionFailed)
        #expect(
            error.description.hasSuffix(
                "The request used https, and port \(server.port) hung up in the TLS handshake: if it does not use TLS, "
                    + "set the environment's scheme to http."
            ),
            "\(error)"
        )
    }

    @Test func aRequestWithoutTLSToAPortWithItNamesTheScheme() async throws {
        let server = try TLSServer(try TLSCertificates(), "server")
        let url = try #require(URL(string: "http://\(LoopbackServer.host):\(server.port)/"))
        let error = try await failure { () throws(ApiConnectorError) in
            try await CurlProvider().response(for: ApiRequest(url: url))
        }
        #expect(
            error.description.hasSuffix(
                " If port \(server.port) uses TLS, set the environment's scheme from http to https."
            ),
            "\(error)"
        )
    }

    @Test(.enabled(if: Libcurl.asks, "before libcurl 7.80, a POST takes a new connection"))
    func aUsedConnectionWithoutTLSThatIsLostIsNotAboutTheScheme() async throws {
        let server = try LoopbackServer { connection in
            guard let request = try connection.readRequest() else { return }
            try connection.send(.status(204), answering: request)
            _ = try connection.readRequest()
        }
        let url = try #require(URL(string: "http://\(LoopbackServer.host):\(server.port)/"))
        let provider = CurlProvider()
        _ = try await provider.response(for: ApiRequest(url: url))
        let error = try await failure { () throws(ApiConnectorError) in
            try await provider.response(for: ApiRequest(url: url, method: .post))
        }
        #expect(error.kind == .connectionLost)
        #expect(!error.description.contains("TLS"), "\(error)")
    }

    @Test(arguments: Wire.secureSockets)
    func anUnknownAuthorityNamesTheSettingAndNotTheDate(_ wire: Wire) async throws {
        let server = try TLSServer(try TLSCertificates(), "server")
        let error = try await failure { () throws(ApiConnectorError) in
            try await wire.transport.response(for: ApiRequest(url: server.url))
        }
        #expect(error.kind == .secureConnectionFailed)
        #expect(error.description.contains("certificateAuthorityFile"), "\(error)")
        #expect(!error.description.contains("date"), "\(error)")
    }

    @Test func aPinThatDoesNotMatchNamesItsSetting() {
        let fault = CurlSecurityFault(code: 90, words: "", configuration: CurlConfiguration())
        #expect(fault.nextStep == "If the server has a new key, add its pin to pinnedPublicKeys.")
    }

    @Test func aMissingAuthorityFileNamesItsSettingAndNotTheDate() async throws {
        var configuration = CurlConfiguration()
        configuration.certificateAuthorityFile = URL(filePath: "/nowhere/authorities.pem")
        let server = try LoopbackServer { _ in }
        let url = try #require(URL(string: "https://\(LoopbackServer.host):\(server.port)/"))
        let error = try await failure { () throws(ApiConnectorError) in
            try await CurlProvider(configuration: configuration).response(for: ApiRequest(url: url))
        }
        #expect(error.description.contains("certificateAuthorityFile"))
        #expect(!error.description.contains("date"), "\(error)")
    }

    @Test func anUnreachableProxyIsNamedWithItsSetting() async throws {
        // A port that was in use a moment ago, and is not now.
        let port = try LoopbackServer { _ in }.port
        var configuration = CurlConfiguration()
        configuration.proxy = .url(try #require(URL(string: "http://127.0.0.1:\(port)")))
        let url = try #require(URL(string: "http://api.test/me"))
        let error = try await failure { () throws(ApiConnectorError) in
            try await CurlProvider(configuration: configuration).response(for: ApiRequest(url: url))
        }
        #expect(error.kind == .cannotConnect)
        #expect(
            error.detail.hasPrefix(
                "the proxy 127.0.0.1:\(port), set by the configuration's proxy setting, cannot be reached; "
            )
        )
        #expect(
            error.description.hasSuffix(
                "Check the configuration's proxy setting; set the configuration's proxy to .none to use no proxy."
            ),
            "\(error)"
        )
    }
    #endif
}
