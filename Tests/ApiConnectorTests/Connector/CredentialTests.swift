// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import Testing

/// Which fields are sent to a URL that a server returned.
struct CredentialTests {
    private static let credentials: HTTPHeaders = [
        "Authorization": "Bearer hush", "Cookie": "sid=hush", "Proxy-Authorization": "Basic aHVzaA==",
        "X-Api-Key": "hush", "X-Auth-Token": "hush",
    ]

    private static func connection(
        to place: Place,
        headers: HTTPHeaders = HTTPHeaders()
    ) -> NetworkConnector<TestConnector<ClosureResponses>, Endpoint<ApiPath>> {
        NetworkConnector(
            environment: place,
            provider: TestConnector { request in .json(request.headers.map { "\($0.name): \($0.value)" }) },
            configuration: ConnectionConfiguration(headers: headers)
        )
    }

    private static let own: [(Place, String)] = [
        (Place(), "http://api.example.com/x"),
        (Place(), "http://api.example.com:80/x"),
        (Place(), "HTTP://API.Example.COM/x"),
        (Place(port: nil), "http://api.example.com:80/x"),
        (Place(port: 8080), "http://api.example.com:8080/x"),
        (Place(basePath: "/v1"), "http://api.example.com/elsewhere"),
        (Place(scheme: .https, port: 443), "https://api.example.com/x"),
        (Place(scheme: .https, port: nil), "https://api.example.com:443/x"),
        (Place(host: "API.example.com"), "http://api.example.com/x"),
        (Place(host: "::1"), "http://[::1]/x"),
        (Place(host: "[::1]"), "http://[::1]:80/x"),
        (Place(host: "bücher.example"), "http://xn--bcher-kva.example/x"),
        (Place(host: "xn--bcher-kva.example"), "http://bücher.example/x"),
        (Place(), "http://user@api.example.com/x"),
    ]

    private static let foreign: [(Place, String)] = [
        (Place(), "http://api.example.com:8080/x"),
        (Place(port: 8080), "http://api.example.com/x"),
        (Place(), "https://api.example.com/x"),
        (Place(), "https://api.example.com:80/x"),
        (Place(scheme: .https, port: 443), "http://api.example.com:443/x"),
        (Place(), "http://example.com/x"),
        (Place(), "http://www.api.example.com/x"),
        (Place(), "http://api.example.com.evil.example/x"),
        (Place(), "http://api.example.com@evil.example/x"),
        (Place(), "http://api.example.com%00.evil.example/x"),
        (Place(host: "::1"), "http://[::2]/x"),
    ]

    @Test(arguments: own)
    func goToTheOwnOrigin(_ place: Place, _ text: String) async throws {
        var place = place
        place.defaultHeaders = ["Authorization": "Bearer hush"]
        let api = Self.connection(to: place, headers: ["X-Api-Key": "hush", "X-Plain": "1"])
        let lines: [String] = try await api.value(at: try #require(URL(string: text)))
        #expect(lines == ["Authorization: Bearer hush", "X-Api-Key: hush", "X-Plain: 1", "Accept: application/json"])
    }

    @Test(arguments: foreign)
    func goToNoOtherOrigin(_ place: Place, _ text: String) async throws {
        var place = place
        place.defaultHeaders = Self.credentials.merging(["X-Place": "1"])
        let api = Self.connection(to: place, headers: Self.credentials.merging(["X-Plain": "1"]))
        guard let url = URL(string: text) else { return }  // Not a URL at all: nothing can be sent there.
        let lines: [String] = try await api.value(at: url)
        #expect(lines == ["X-Place: 1", "X-Plain: 1", "Accept: application/json"])
    }

    @Test func theCallsOwnFieldsAlwaysGo() async throws {
        let api = Self.connection(to: Place(), headers: Self.credentials)
        let url = try #require(URL(string: "http://storage.example.com/signed"))
        let lines: [String] = try await api.value(at: url, options: CallOptions(headers: ["Authorization": "Own hush"]))
        #expect(lines == ["Authorization: Own hush", "Accept: application/json"])
    }

    @Test func holdsForEveryFamilyOfCalls() async throws {
        let web = try ScriptedWeb(over: .testConnector) { _ in .json("1") }
        let api = web.connection(headers: Self.credentials)
        let url = try #require(URL(string: web.away + "/x"))
        _ = try await api.value(Int.self, at: url)
        _ = await api.outcome(Int.self, at: url)
        _ = try await api.response(of: Int.self, at: url)
        _ = try await api.response(at: url)
        _ = try await api.data(at: url)
        try await api.send(at: url)
        for try await _ in api.stream(of: Int.self, at: url) {}
        for try await _ in api.pages(of: Int.self, from: url) {}
        #expect(web.requests.count == 8)
        for request in web.requests { #expect(request.headers.map(\.name) == ["Accept"]) }
    }

    @Test(arguments: Wire.allCases)
    func holdsOverEveryTransport(_ wire: Wire) async throws {
        let web = try ScriptedWeb(over: wire) { _ in .json("1") }
        let api = web.connection(headers: Self.credentials)
        _ = try await api.value(Int.self, at: try #require(URL(string: web.home + "/home")))
        _ = try await api.value(Int.self, at: try #require(URL(string: web.away + "/away")))
        #expect(web.requests.count == 2)
        for field in Self.credentials {
            #expect(web.requests.first?.header(field.name.rawValue) == field.value)
            #expect(web.requests.last?.header(field.name.rawValue) == nil)
        }
    }

    @Test func aURLWithoutAServerIsRefused() async throws {
        let url = try #require(URL(string: "/only/a/path"))
        let error = try await failure { () throws(ApiConnectorError) in
            try await Self.connection(to: Place()).data(at: url)
        }
        #expect(error.kind == .invalidRequest)
        #expect(error.detail == "its URL has no scheme, but only http and https are supported")
    }

    @Test func aRelativeURLGoesToItsBase() async throws {
        let base = URL(string: "http://api.example.com/a/b")
        let url = try #require(URL(string: "c", relativeTo: base))
        let api = Self.connection(to: Place(), headers: ["X-Api-Key": "hush"])
        let response = try await api.response(at: url)
        #expect(response.url.absoluteString == "http://api.example.com/a/c")
        #expect(response.request.headers["X-Api-Key"] == "hush")
    }
}
