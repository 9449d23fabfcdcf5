// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import ApiConnectorTestServers
import ApiConnectorTesting
import Testing

@testable import ApiConnector

struct ProxySettingTests {
    /// A proxy that answers CONNECT with a status, and how often it was asked.
    private func outcome(
        of proxyURL: (Int) -> String,
        answering head: String
    ) async throws -> (error: ApiConnectorError?, port: Int, connectionCount: Int) {
        let proxy = try LoopbackServer { connection in
            _ = try connection.readHead()
            try connection.send(head)
        }
        var configuration = CurlConfiguration.patient
        configuration.proxy = .url(try #require(URL(string: proxyURL(proxy.port))))
        let policy = RetryPolicy(maximumAttemptCount: 3, initialDelay: .zero)
        let provider = CurlProvider(configuration: configuration).retrying(policy)
        let url = try #require(URL(string: "https://api.test/me"))
        let error = await #expect(throws: ApiConnectorError.self) {
            _ = try await provider.response(for: ApiRequest(url: url))
        }
        return (error, proxy.port, proxy.connectionCount)
    }

    @Test(arguments: [403, 407, 502]) func reportsARefusedTunnelAndDoesNotRetry(_ status: Int) async throws {
        let head = "HTTP/1.1 \(status) No\r\nContent-Length: 0\r\n\r\n"
        let outcome = try await outcome(of: { "http://u:hush%20hush@127.0.0.1:\($0)" }, answering: head)
        #expect(outcome.error?.kind == .cannotConnect)
        let hint = status == 407 ? "; it rejected the user and the password that are set there" : ""
        #expect(
            outcome.error?.detail
                == "the proxy 127.0.0.1:\(outcome.port), set by the configuration's proxy setting, refused to connect to the server: "
                + "it responded to CONNECT with the status \(status)" + hint
        )
        #expect(outcome.connectionCount == 1)
        var text = ""
        dump(outcome.error, to: &text)
        text += outcome.error?.description ?? ""
        #expect(!text.contains("hush"))
    }

    /// libcurl reads such a response within one call, so that no other transfer would go on.
    @Test(arguments: ["HTTP/1.1 200 OK\r\n", "HTTP/1.1 407 No\r\nContent-Length: 100000000000\r\n\r\n"])
    func refusesAResponseToConnectThatNeverEnds(_ head: String) async throws {
        let proxy = try LoopbackServer { connection in
            _ = try connection.readHead()
            try connection.send(head)
            let lines = String(repeating: "X: y\r\n", count: 10_000)
            while true { try connection.send(lines) }
        }
        var configuration = CurlConfiguration.patient
        configuration.proxy = .url(try #require(URL(string: "http://127.0.0.1:\(proxy.port)")))
        let url = try #require(URL(string: "https://api.test/me"))
        let error = await #expect(throws: ApiConnectorError.self) {
            _ = try await CurlProvider(configuration: configuration).response(for: ApiRequest(url: url))
        }
        #expect(error?.kind == .cannotConnect)
        let details = [
            "the proxy's response to CONNECT is longer than 65536 bytes",
            "the proxy's response to CONNECT has more than 5000 fields, libcurl's limit",
        ]
        #expect(details.contains(error?.detail ?? ""))
    }

    @Test func saysThatNoPasswordIsSet() async throws {
        let head = "HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n"
        let outcome = try await outcome(of: { "http://127.0.0.1:\($0)" }, answering: head)
        #expect(outcome.error?.detail.hasSuffix("it requires a user and a password, but none are set there") == true)
    }

    @Test func namesTheProxyThatHangsUp() async throws {
        let outcome = try await outcome(of: { "http://127.0.0.1:\($0)" }, answering: "")
        #expect(outcome.error?.kind == .cannotConnect)
        #expect(outcome.error?.detail.contains("the proxy 127.0.0.1:\(outcome.port), set by") == true)
        // It may pass.
        #expect(outcome.connectionCount == 3)
    }

    @Test(arguments: [
        ("http://u:hu sh@h:1", nil), ("http://u:hu/sh@h:1", nil), ("http://u:hu?sh@h:1", nil),
        ("http://u:hu#sh@h:1", nil), ("http://u:hu@sh@h:1", nil), ("http://u:hush@h:99999", nil),
        ("http://u:hush@h:x", nil), ("http://u:hush@", nil), ("http://u:hush@h:1/p", nil), ("http://u:hush@h i:1", nil),
        ("u:hush@h:1", "h:1"), ("http://u:hu%40sh@h:1/", "h:1"), ("socks5h://u:hush@[::1]:1", "[::1]:1"), ("h", "h"),
    ])
    func namesThePlaceOfAPlainProxyOnly(_ text: String, _ place: String?) {
        #expect(ProxySetting(text, from: "x").place == place)
    }

    @Test(arguments: [3, 4, 5, 7, 28, 97] as [Int32]) func showsNoPartOfABadProxy(_ code: Int32) throws {
        let proxy = try #require(
            ProxySetting(isSecure: true, environment: ["HTTPS_PROXY": "http://u:hu sh@h:1", "https_proxy": ""])
        )
        let request = ApiRequest(url: try #require(URL(string: "https://api.test/")))
        let words = "Unsupported proxy syntax in 'http://u:hu sh@h:1'"
        let error = TransferErrors.proxyError(code, words: words, connectStatus: 0, proxy: proxy, request: request)
        #expect(
            error?.detail
                == "the proxy that the environment variable HTTPS_PROXY sets is not a URL such as "
                + "http://user:password@host:port; percent-encode every reserved character in its user and its password"
        )
        #expect(error?.isPermanent == (code != 7 && code != 28))
    }

    @Test func leavesOutLibcurlsQuotes() {
        #expect(
            TransferErrors.explained("Unsupported proxy syntax in 'http://u:hu'sh@h'")
                == "Unsupported proxy syntax in REDACTED"
        )
        #expect(
            TransferErrors.explained("Unsupported proxy syntax in 'http://u:hush")
                == "Unsupported proxy syntax in REDACTED"
        )
    }

    @Test(arguments: [
        (["http_proxy": "a"], "http_proxy"), (["HTTP_PROXY": "a"], nil), (["ALL_PROXY": "a"], "ALL_PROXY"),
        (["all_proxy": "a", "ALL_PROXY": "b"], "all_proxy"), (["http_proxy": "", "all_proxy": "a"], "all_proxy"),
        (["https_proxy": "a"], nil),
    ])
    func findsTheVariableThatLibcurlUses(_ environment: [String: String], _ name: String?) {
        let source = ProxySetting(isSecure: false, environment: environment)?.source
        #expect(source == name.map { "the environment variable \($0)" })
    }

    @Test(arguments: [
        ("*", true), ("api.test", true), ("TEST", true), (".test", true), ("a, api.test. b", true),
        ("", false), ("pi.test", false), ("test.api", false), ("a.api.test", false), (".", false),
    ])
    func leavesOutTheHostsOfNoProxy(_ names: String, _ isExcluded: Bool) throws {
        let url = try #require(URL(string: "https://Api.test/me"))
        for variable in ["no_proxy", "NO_PROXY"] {
            let proxy = ProxySetting(for: url, environment: ["https_proxy": "h:1", variable: names])
            #expect((proxy == nil) == isExcluded)
        }
        let address = try #require(URL(string: "https://[::1]/me"))
        #expect(ProxySetting(for: address, environment: ["https_proxy": "h:1", "no_proxy": "::1"]) == nil)
    }
}
#endif
