// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

/// Which fields a redirect keeps: the scenarios that OkHttp and browsers are tested with.
struct RedirectScenarioTests {
    private static let secrets = ["Authorization", "Cookie", "Proxy-Authorization", "X-Api-Key"]
    private static let ofTheBody = [
        "Content-Type", "Content-Encoding", "Content-Language", "Content-Location", "Content-Digest", "Repr-Digest",
        "Digest", "Last-Modified", "Expect", "Trailer",
    ]
    private static let others = [
        "Accept", "Accept-Language", "If-Match", "If-None-Match", "Idempotency-Key", "Range", "Referer", "User-Agent",
        "X-Tea",
    ]

    struct Row: Sendable, CustomTestStringConvertible {
        let status: Int
        let method: HTTPMethod
        var isAway = false
        var keepsBody = true

        var testDescription: String { "\(status) after \(method)\(isAway ? " to another origin" : "")" }
    }

    static let rows: [Row] = [
        Row(status: 301, method: .get), Row(status: 302, method: .get), Row(status: 307, method: .get),
        Row(status: 302, method: .get, isAway: true), Row(status: 308, method: .get, isAway: true),
        Row(status: 301, method: .post, keepsBody: false), Row(status: 302, method: .post, keepsBody: false),
        Row(status: 303, method: .post, keepsBody: false), Row(status: 303, method: .put, keepsBody: false),
        Row(status: 303, method: .delete, keepsBody: false),
        Row(status: 303, method: .post, isAway: true, keepsBody: false),
        Row(status: 307, method: .post), Row(status: 308, method: .post), Row(status: 301, method: .put),
        Row(status: 307, method: .post, isAway: true), Row(status: 308, method: .put, isAway: true),
        Row(status: 302, method: "PROPFIND"), Row(status: 307, method: "PROPFIND", isAway: true),
    ]

    @Test(arguments: rows) func keepsTheFieldsThatAreForTheNewURL(_ row: Row) async throws {
        let web = try ScriptedWeb(redirectingOver: .testConnector)
        let url = try ScriptedWeb.hop(row.status, from: web.home, to: (row.isAway ? web.away : web.home) + "/end")
        var headers = HTTPHeaders()
        for name in Self.secrets + Self.ofTheBody + Self.others { headers[HTTPHeaders.Name(name)] = "a" }
        headers[.contentType] = "text/plain"
        _ = try await web.connection().data(
            at: url,
            method: row.method,
            body: row.method == .get ? .empty : .text("tea"),
            options: CallOptions(headers: headers)
        )
        #expect(web.requests.count == 2)
        let kept = (Self.secrets + Self.ofTheBody + Self.others).filter { web.requests.last?.header($0) != nil }
        let expected = (row.isAway ? [] : Self.secrets) + (row.keepsBody ? Self.ofTheBody : []) + Self.others
        #expect(kept == expected)
    }

    /// Removed credentials are not sent again.
    @Test func credentialsDoNotComeBackWithTheirOrigin() async throws {
        let web = try ScriptedWeb(redirectingOver: .testConnector)
        let back = try ScriptedWeb.hop(302, from: web.away, to: web.home + "/end")
        let url = try ScriptedWeb.hop(302, from: web.home, to: back.absoluteString)
        let options = CallOptions(headers: ["Authorization": "Bearer hush"])
        _ = try await web.connection().data(at: url, options: options)
        #expect(web.requests.map { $0.header("Authorization") } == ["Bearer hush", nil, nil])
    }

    /// A retry begins at the address that failed, not at the first one.
    @Test func aRetryAfterARedirectGoesToTheNewURL() async throws {
        let log = EventLog<String>()
        let provider = TestConnector { request in
            log.note(request.url.path())
            if request.url.path() == "/start" { return .status(302, headers: ["Location": "/end"]) }
            return request.attempt < 3 ? .status(503) : .data(Data("there".utf8))
        }
        let api = NetworkConnector(
            environment: Place(),
            provider: provider.retrying(
                .halfWay {
                    $0.initialDelay = .zero
                }
            ),
            router: Endpoint<ApiPath>.self
        )
        #expect(try await api.data(at: Endpoint("/start")) == Data("there".utf8))
        #expect(log.events == ["/start", "/end", "/end", "/end"])
    }
}
