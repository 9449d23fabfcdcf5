// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

/// Which credentials a redirect sends to its new address.
struct RedirectCredentialTests {
    private static let headers: HTTPHeaders = [
        "Authorization": "Bearer hush", "Cookie": "sid=hush", "Proxy-Authorization": "Basic aHVzaA==",
        "X-Api-Key": "hush", "X-Plain": "1",
    ]

    /// The names of the fields of a request that the call or the connection set.
    private func names(_ request: SeenRequest?) -> [String] {
        let names = Self.headers.map(\.name.rawValue)
        return names.filter { request?.header($0) != nil }
    }

    /// R3: URLSession on Linux carried them all to the other host.
    @Test(arguments: Wire.allCases, [301, 302, 303, 307, 308])
    func removesCredentialsWhenTheOriginChanges(_ wire: Wire, _ status: Int) async throws {
        let web = try ScriptedWeb(redirectingOver: wire)
        let url = try ScriptedWeb.hop(status, from: web.home, to: web.away + "/end")
        _ = try await web.connection(headers: Self.headers).data(at: url)
        #expect(web.requests.count == 2)
        #expect(names(web.requests.first) == Self.headers.map(\.name.rawValue))
        #expect(names(web.requests.last) == ["X-Plain"])
        let host = try #require(URL(string: web.away)?.host())
        if wire != .testConnector { #expect(web.requests.last?.header("Host")?.hasPrefix(host) == true) }
    }

    @Test(arguments: Wire.allCases)
    func keepsThemOtherwise(_ wire: Wire) async throws {
        let web = try ScriptedWeb(redirectingOver: wire)
        let url = try ScriptedWeb.hop(302, from: web.home, to: web.home + "/end")
        _ = try await web.connection(headers: Self.headers).data(at: url)
        #expect(web.requests.count == 2)
        #expect(names(web.requests.last) == Self.headers.map(\.name.rawValue))
    }

    @Test(arguments: Wire.allCases)
    func doesNotSendThemAgainAfterARedirectBack(_ wire: Wire) async throws {
        let web = try ScriptedWeb(redirectingOver: wire)
        let back = try ScriptedWeb.hop(302, from: web.away, to: web.home + "/end")
        let url = try ScriptedWeb.hop(302, from: web.home, to: back.absoluteString)
        _ = try await web.connection(headers: Self.headers).data(at: url)
        #expect(web.requests.map { names($0).count } == [5, 1, 1])
    }

    @Test func removesTheCallsOwnCredentialsToo() async throws {
        let web = try ScriptedWeb(redirectingOver: .testConnector)
        let url = try ScriptedWeb.hop(302, from: web.home, to: web.away + "/end")
        _ = try await web.connection().data(at: url, options: CallOptions(headers: Self.headers))
        #expect(web.requests.map { names($0).count } == [5, 1])
    }

    @Test(arguments: [
        ("http://api.example.com/end", true), ("http://api.example.com:80/end", true), ("//api.example.com/end", true),
        ("HTTP://API.EXAMPLE.COM/end", true), ("/end", true), ("http://api.example.com:8080/end", false),
        ("https://api.example.com/end", false), ("http://www.api.example.com/end", false),
        ("http://api.example.com@evil.example/end", false), ("http://127.0.0.1/end", false),
    ])
    func anOriginIsSchemeHostAndPort(_ location: String, _ isSame: Bool) async throws {
        let web = try ScriptedWeb(redirectingOver: .testConnector)
        let url = try ScriptedWeb.hop(302, from: web.home, to: location)
        _ = try await web.connection(headers: Self.headers).data(at: url)
        #expect(web.requests.map { names($0).count } == [5, isSame ? 5 : 1])
    }

    @Test func aPolicyIsAskedAfterTheyAreRemoved() async throws {
        let web = try ScriptedWeb(redirectingOver: .testConnector)
        let url = try ScriptedWeb.hop(302, from: web.home, to: web.away + "/end")
        let policy = RedirectPolicy.ask { _, next in
            var next = next
            next.headers["X-Seen"] = next.headers.map(\.name.rawValue).joined(separator: " ")
            return .follow(next)
        }
        _ = try await web.connection(headers: Self.headers, redirects: policy).data(at: url)
        #expect(web.requests.last?.header("X-Seen") == "X-Plain Accept")
    }

    @Test func aHostFieldOfTheCallerIsForItsOwnOrigin() async throws {
        let web = try ScriptedWeb(redirectingOver: .testConnector)
        let options = CallOptions(headers: ["Host": "virtual.example.com"])
        _ = try await web.connection().data(at: try ScriptedWeb.hop(302, from: web.home, to: "/end"), options: options)
        let away = try ScriptedWeb.hop(302, from: web.home, to: web.away + "/end")
        _ = try await web.connection().data(at: away, options: options)
        let hosts = web.requests.map { $0.header("Host") }
        #expect(hosts == ["virtual.example.com", "virtual.example.com", "virtual.example.com", nil])
    }
}
