// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

/// Which hosts get a credential.
struct CredentialScopeTests {
    /// Whether a call at a URL carries the credential.
    private func isShown(at text: String, _ scope: CredentialScope) async throws -> Bool {
        let url = try #require(URL(string: text))
        let provider = TestConnector { _ in .status(200) }.authenticating(by: .fixed(.bearer("t")), for: scope)
        let api = NetworkConnector(environment: .localhost, provider: provider, router: Router.self)
        return try await api.response(at: url).request.headers.contains(.authorization)
    }

    @Test(
        arguments: [
            ("http://localhost/a", true), ("http://LOCALHOST:80/a", true), ("http://localhost:8080/a", false),
            ("https://localhost/a", false), ("http://localhost.example.com/", false), ("http://user@localhost/", true),
            ("http://localhost@example.com/", false),
        ]
    )
    func aLinkToTheConnectionsOriginGetsTheCredential(url: String, isShown: Bool) async throws {
        #expect(try await self.isShown(at: url, .connection) == isShown)
    }

    @Test func otherOriginsMustBeNamed() async throws {
        let cdn = try #require(URL(string: "https://cdn.example.com"))
        for (scope, expected) in [
            (CredentialScope.connection, [true, false, false]), (.connection(and: cdn), [true, true, false]),
            (.origins(cdn), [false, true, false]),
        ] {
            let urls = ["http://localhost/", "https://cdn.example.com:443/x", "http://cdn.example.com/x"]
            var shown: [Bool] = []
            for url in urls { shown.append(try await isShown(at: url, scope)) }
            #expect(shown == expected)
        }
    }

    @Test func aRedirectToAnotherOriginDoesNotGetTheCredential() async throws {
        let seen = EventLog<String>()
        let provider = TestConnector { request in
            seen.note("\(request.url.host() ?? "") \(request.headers[.authorization] ?? "-")")
            switch request.url.path() {
            case "/me": return .status(307, headers: [.location: "http://other.example.com/there"])
            case "/there": return .status(307, headers: [.location: "http://localhost/back"])
            default: return .status(200)
            }
        }
        let api = NetworkConnector(
            environment: .localhost,
            provider: provider.authenticating(by: .fixed(.bearer("t"))),
            router: Router.self
        )
        try await api.send(at: .me)
        #expect(seen.events == ["localhost Bearer t", "other.example.com -", "localhost Bearer t"])
    }

    @Test func aRedirectDoesNotKeepAKeyInTheQuery() async throws {
        let seen = EventLog<String>()
        let provider = TestConnector { request in
            seen.note(request.url.absoluteString)
            let isFirst = request.url.path() == "/me"
            return isFirst ? .status(302, headers: [.location: "http://other.example.com/there"]) : .status(200)
        }
        let api = NetworkConnector(
            environment: .localhost,
            provider: provider.authenticating(by: .fixed(.apiKey("hush", inQuery: "k"))),
            router: Router.self
        )
        try await api.send(at: .me)
        #expect(seen.events == ["http://localhost:80/me?k=hush", "http://other.example.com/there"])
    }

    @Test func aHandmadeRequestSendsItToNamedOriginsOnly() async throws {
        let url = try #require(URL(string: "https://api.example.com/"))
        let transport = TestConnector { _ in .status(200) }
        let bare = transport.authenticating(by: .fixed(.bearer("t")))
        let named = transport.authenticating(by: .fixed(.bearer("t")), for: .origins(url))
        #expect(try await !bare.response(for: ApiRequest(url: url)).request.headers.contains(.authorization))
        #expect(try await named.response(for: ApiRequest(url: url)).request.headers.contains(.authorization))
    }
}
