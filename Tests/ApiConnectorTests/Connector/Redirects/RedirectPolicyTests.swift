// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

struct RedirectPolicyTests {
    private static let there = Data("there".utf8)

    @Test(arguments: Wire.allCases)
    func neverDeliversTheRedirectItself(_ wire: Wire) async throws {
        let web = try ScriptedWeb(redirectingOver: wire)
        let url = try ScriptedWeb.hop(302, from: web.home, to: "/end")
        let api = web.connection(redirects: .never)
        let options = CallOptions(validation: .status(302))
        let response = try await api.response(at: url, options: options)
        #expect(response.status == 302)
        #expect(response.headers[.location] == "/end")
        #expect(try await response.body.collect(upTo: 10) == Data("moved".utf8))
        let error = try await failure { () throws(ApiConnectorError) in try await api.data(at: url) }
        #expect(
            error.description
                == "GET \(ScriptedWeb.shown(url)) failed (unacceptableStatus): the server answered 302 Found, "
                + "and only 200 to 299 are accepted. Follow redirects with options.redirects, or request the new URL "
                + "directly. The body: moved"
        )
        #expect(web.requests.count == 2)
    }

    @Test func neverFollowsAnyLocation() async throws {
        let web = try ScriptedWeb(redirectingOver: .testConnector)
        let options = CallOptions(validation: .unchecked, redirects: .never)
        let url = try ScriptedWeb.hop(302, from: web.home, to: "http://")
        #expect(try await web.connection().data(at: url, options: options) == Data("moved".utf8))
    }

    @Test(arguments: Wire.allCases)
    func askDecidesOnEachHop(_ wire: Wire) async throws {
        let web = try ScriptedWeb(redirectingOver: wire)
        let heard = Locked<[String]>([])
        let policy = RedirectPolicy.ask { response, next in
            heard.withLock { $0.append("\(response.status.rawValue) \(next.method) \(next.url.path())") }
            var next = next
            next.headers["X-Asked"] = "1"
            return .follow(next)
        }
        let url = try ScriptedWeb.chain([307, 303], from: web.home, to: "/end")
        #expect(
            try await web.connection(redirects: policy).data(at: url, method: .post, body: .text("x")) == Self.there
        )
        #expect(heard.withLock { $0 } == ["307 POST /303", "303 GET /end"])
        #expect(web.requests.map { $0.header("X-Asked") } == [nil, "1", "1"])
    }

    @Test func askMayDeliverTheRedirectOrRefuseIt() async throws {
        let web = try ScriptedWeb(redirectingOver: .testConnector)
        let url = try ScriptedWeb.hop(302, from: web.home, to: "/end?token=hush")
        let deliver = CallOptions(validation: .status(302), redirects: .ask { _, _ in .deliver })
        #expect(try await web.connection().data(at: url, options: deliver) == Data("moved".utf8))
        let refuse = CallOptions(redirects: .ask { _, _ in .refuse })
        let home = try #require(URL(string: web.home + "/302?%2Fend%3Fx=1"))
        let error = try await failure { () throws(ApiConnectorError) in
            try await web.connection().data(at: home, options: refuse)
        }
        #expect(error.kind == .redirectRefused)
        #expect(error.response?.status == 302)
        #expect(
            error.description
                == "GET \(ScriptedWeb.shown(home)) failed (redirectRefused): the redirect to \(web.shownHome)/end?x=1 was refused. Request the "
                + "new URL directly, or change the redirect policy. The body: moved"
        )
        #expect(web.requests.count == 2)
    }

    @Test func askRespectsTheLimit() async throws {
        let web = try ScriptedWeb(redirectingOver: .testConnector)
        let url = try ScriptedWeb.chain([302, 302], from: web.home, to: "/end")
        let error = try await failure { () throws(ApiConnectorError) in
            try await web.connection(redirects: .ask(upTo: 1) { .follow($1) }).data(at: url)
        }
        #expect(error.kind == .tooManyRedirects)
    }

    // MARK: Refused redirects

    private static let refused = " Request the new URL directly, or change the redirect policy."

    @Test(arguments: Wire.allCases)
    func aRedirectWithoutALocationIsRefused(_ wire: Wire) async throws {
        let web = try ScriptedWeb(redirectingOver: wire)
        let url = try #require(URL(string: web.home + "/308"))
        let error = try await failure { () throws(ApiConnectorError) in try await web.connection().data(at: url) }
        #expect(
            error.description
                == "GET \(ScriptedWeb.shown(url)) failed (redirectRefused): the server answered 308 Permanent Redirect "
                + "without a Location." + Self.refused
                + (wire.isFoundationNetworking ? "" : " The body: moved")
        )
    }

    /// R3: with some of these URLSession on Linux ended the process when it followed.
    @Test(
        arguments: Wire.allCases,
        [
            "http://", "//", "http://[", "http:///path", "file:///etc/passwd", "javascript:0", "mailto:a@example.com",
            "ftp://example.com/", "data:,x", "http://a:b:c/", "g:h",
        ]
    )
    func aLocationThatIsNotAnHTTPURLIsRefused(_ wire: Wire, _ location: String) async throws {
        let web = try ScriptedWeb(redirectingOver: wire)
        let url = try ScriptedWeb.hop(302, from: web.home, to: location)
        let error = try await failure { () throws(ApiConnectorError) in try await web.connection().data(at: url) }
        #expect(error.kind == .redirectRefused)
        #expect(
            error.detail
                == "the server answered 302 Found with the location \"\(location)\", which is not an http or https URL"
        )
        #expect(web.requests.count == 1)
    }

    @Test func theLocationOfARefusedRedirectIsShownWithoutItsSecrets() async throws {
        let web = try ScriptedWeb(redirectingOver: .testConnector)
        let url = try #require(URL(string: web.home + "/302?ftp:%2F%2Fted:hush@example.com%2F"))
        let error = try await failure { () throws(ApiConnectorError) in try await web.connection().data(at: url) }
        #expect(error.kind == .redirectRefused)
        #expect(!error.detail.contains("hush"))
    }

    @Test func fromHTTPSToHTTPIsRefusedUnlessAllowed() async throws {
        let provider = TestConnector { request in
            guard request.url.path() == "/start" else { return .data(Self.there) }
            return .status(302, headers: ["Location": "http://api.example.com/end"])
        }
        let place = Place(scheme: .https, port: 443)
        let api = NetworkConnector(environment: place, provider: provider, router: Endpoint<ApiPath>.self)
        let error = try await failure { () throws(ApiConnectorError) in try await api.data(at: Endpoint("/start")) }
        #expect(
            error.description == "GET https://api.example.com/start failed (redirectRefused): the server answered "
                + "302 Found with the location \"http://api.example.com/end\", which is not encrypted."
                + Self.refused
        )
        let allowed = CallOptions(redirects: .follow(allowsInsecure: true))
        #expect(try await api.data(at: Endpoint("/start"), options: allowed) == Self.there)
        let asked = CallOptions(redirects: .ask(allowsInsecure: true) { .follow($1) })
        #expect(try await api.data(at: Endpoint("/start"), options: asked) == Self.there)
    }

    @Test func fromHTTPToHTTPSIsFollowed() async throws {
        let provider = TestConnector { request in
            guard request.url.scheme == "http" else { return .data(Self.there) }
            return .status(302, headers: ["Location": "https://api.example.com/end"])
        }
        let api = NetworkConnector(environment: Place(), provider: provider, router: Endpoint<ApiPath>.self)
        #expect(try await api.data(at: Endpoint("/start")) == Self.there)
    }
}
