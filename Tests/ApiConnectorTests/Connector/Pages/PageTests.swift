// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnectorTesting
import Testing

@testable import ApiConnector

struct PageTests {
    private struct Listing: Codable, Equatable, Sendable {
        var items: [Int]
        var cursor: String?
    }

    private typealias Route = Endpoint<ApiPath>

    private func page(_ json: String, link: String? = nil) -> LoopbackResponse {
        var response = LoopbackResponse.json(json)
        if let link { response.headers.append((name: "Link", value: link)) }
        return response
    }

    /// Three pages, each of which names the next by its `Link`.
    private func linked(_ request: SeenRequest) -> LoopbackResponse {
        switch request.target {
        case "/posts": page("[1,2]", link: #"<posts?page=2>; rel="next", <posts?page=3>; rel="last""#)
        case "/posts?page=2": page("[]", link: #"</posts>; rel="first", <?page=3>; rel="next""#)
        default: page("[3]", link: #"</posts>; rel="first", </other>; rel="next"; anchor="/other/list""#)
        }
    }

    @Test(arguments: Wire.allCases, [false, true])
    func followTheLinkField(_ wire: Wire, _ prefetching: Bool) async throws {
        let web = try ScriptedWeb(over: wire) { linked($0) }
        let pages = web.connection().pages(of: [Int].self, from: Route("/posts"), prefetching: prefetching)
        let found = await pages.readToTheEnd()
        #expect(found.elements == [[1, 2], [], [3]])
        #expect(found.error == nil)
        #expect(web.requests.map(\.target) == ["/posts", "/posts?page=2", "/posts?page=3"])
        #expect(web.requests.map { $0.header("Accept") } == Array(repeating: "application/json", count: 3))
        #expect(await pages.elements.readToTheEnd().elements == [1, 2, 3])
        #expect(web.requests.count == 6)
    }

    @Test func areRequestedByACall() async throws {
        let web = try ScriptedWeb(over: .testConnector) { linked($0) }
        let call = ApiCall<Route, [Int]>(Route("/posts"))
        #expect(await web.connection().pages(from: call).readToTheEnd().elements == [[1, 2], [], [3]])
        let second = try #require(URL(string: web.home + "/posts?page=2"))
        #expect(await web.connection().pages(of: [Int].self, from: second).readToTheEnd().elements == [[], [3]])
    }

    @Test(arguments: Wire.allCases)
    func resolveTheLinkAgainstTheURLAfterARedirect(_ wire: Wire) async throws {
        let web = try ScriptedWeb(over: wire) { request in
            switch request.target {
            case "/posts": LoopbackResponse(status: 307, headers: [("Location", "/v2/posts")])
            case "/v2/posts": page("[1]", link: "<posts?page=2>; rel=next")
            default: page("[2]")
            }
        }
        #expect(
            await web.connection().pages(of: [Int].self, from: Route("/posts")).readToTheEnd().elements == [[1], [2]]
        )
        #expect(web.requests.map(\.target) == ["/posts", "/v2/posts", "/v2/posts?page=2"])
    }

    @Test(arguments: Wire.allCases)
    func followACursorToARouteOrAURL(_ wire: Wire) async throws {
        let web = try ScriptedWeb(over: wire) { request in
            switch request.target {
            case "/posts": page(#"{"items":[1,2],"cursor":"b"}"#)
            case "/posts?after=b": page(#"{"items":[3],"cursor":"c"}"#)
            default: page(#"{"items":[4]}"#)
            }
        }
        let api = web.connection()
        let routes = api.pages(
            of: Listing.self,
            from: Route("/posts"),
            next: .route { page in
                page.value.cursor.map { Route(path: "/posts", queryItems: [URLQueryItem(name: "after", value: $0)]) }
            }
        )
        #expect(await routes.elements(\.items).readToTheEnd().elements == [1, 2, 3, 4])
        let urls = api.pages(
            of: Listing.self,
            from: Route("/posts"),
            next: .url { page in page.value.cursor.flatMap { URL(string: "?after=\($0)") } }
        )
        #expect(await urls.elements(\.items).readToTheEnd().elements == [1, 2, 3, 4])
        let targets = ["/posts", "/posts?after=b", "/posts?after=c"]
        #expect(web.requests.map(\.target) == (targets + targets).map { $0[...] })
    }

    @Test func mayFindTheNextPageInTheHead() async throws {
        let web = try ScriptedWeb(over: .testConnector) { request in
            var response = page("[1]")
            if request.target == "/1" { response.headers.append((name: "X-Next", value: "2")) }
            return response
        }
        let pages = web.connection().pages(
            of: [Int].self,
            from: Route("/1"),
            next: .route { page in page.headers["X-Next"].map { Route("/\($0)") } }
        )
        #expect(await pages.readToTheEnd().elements == [[1], [1]])
        #expect(web.requests.map(\.target) == ["/1", "/2"])
    }

    @Test func areNumberedUntilAPageIsEmptyOrTheLast() async throws {
        let web = try ScriptedWeb(over: .testConnector) { request in
            page(["/0", "/1", "/10", "/20"].contains(request.target) ? "[\(request.target.dropFirst())]" : "[]")
        }
        let api = web.connection()
        let pages = api.pages(of: [Int].self, from: Route("/0"), next: .number(after: 0) { Route("/\($0)") })
        #expect(await pages.readToTheEnd().elements == [[0], [1], []])
        let offsets = api.pages(of: [Int].self, from: Route("/0"), next: .number(after: 0, by: 10) { Route("/\($0)") })
        #expect(await offsets.elements.readToTheEnd().elements == [0, 10, 20])
        let until = api.pages(
            of: [Int].self,
            from: Route("/0"),
            next: .number(after: 0, by: 10, until: { $0 == [10] }, { Route("/\($0)") })
        )
        #expect(await until.readToTheEnd().elements == [[0], [10]])
        #expect(web.requests.map(\.target) == ["/0", "/1", "/2", "/0", "/10", "/20", "/30", "/0", "/10"])
    }

    @Test(arguments: Wire.allCases, [false, true])
    func failAfterTheLastNewPageOfALoop(_ wire: Wire, _ prefetching: Bool) async throws {
        let web = try ScriptedWeb(over: wire) { request in
            page("[1]", link: request.target == "/a" ? "</b>; rel=next" : "</a>; rel=next")
        }
        let found = await web.connection().pages(of: [Int].self, from: Route("/a"), prefetching: prefetching)
            .readToTheEnd()
        #expect(found.elements == [[1], [1]])
        #expect(web.requests.map(\.target) == ["/a", "/b"])
        #expect(found.error?.kind == .other)
        #expect(
            found.error?.description
                == "GET \(web.shownHome)/a failed (other): on page 3: the previous page links to a page that was already "
                + "read, so the pages form a loop."
        )
    }

    @Test func areNoLoopIfTheCursorIsInTheBodyOrAField() async throws {
        let web = try ScriptedWeb(over: .testConnector) { request in
            let cursor = Int(request.header("X-Cursor") ?? "0") ?? 0
            let sent = request.body.isEmpty ? cursor : Int(String(decoding: request.body, as: UTF8.self)) ?? 0
            return page("[\(sent)]")
        }
        let api = web.connection()
        let bodies = api.pages(
            of: [Int].self,
            from: Route(path: "/search", method: .post, body: .json(0)),
            next: .route { $0.value[0] < 2 ? Route(path: "/search", method: .post, body: .json($0.value[0] + 1)) : nil }
        )
        #expect(await bodies.elements.readToTheEnd().elements == [0, 1, 2])
        let fields = api.pages(
            of: [Int].self,
            from: Route("/search"),
            next: .route { $0.value[0] < 2 ? Route(path: "/search", headers: ["X-Cursor": "\($0.value[0] + 1)"]) : nil }
        )
        #expect(await fields.elements.readToTheEnd().elements == [0, 1, 2])
        let stuck = api.pages(
            of: [Int].self,
            from: Route(path: "/search", method: .post, body: .json(7)),
            next: .route { _ in Route(path: "/search", method: .post, body: .json(7)) }
        )
        let found = await stuck.readToTheEnd()
        #expect(found.elements == [[7]])
        #expect(found.error?.kind == .other)
    }

    @Test func rememberABoundedNumberOfRequests() throws {
        var history = PageHistory()
        func insert(_ number: Int) throws -> Bool {
            history.insert(ApiRequest(url: try #require(URL(string: "http://a/\(number)"))))
        }
        for number in 0..<PageHistory.capacity {
            guard try insert(number) else { return #expect(Bool(false), "\(number) was not asked for before") }
        }
        #expect(try insert(PageHistory.capacity), "the first of the next round")
        #expect(try insert(0), "forgotten")
        #expect(try !insert(0))
    }

    @Test(arguments: Wire.allCases, [false, true])
    func nameThePageInAnError(_ wire: Wire, _ prefetching: Bool) async throws {
        let web = try ScriptedWeb(over: wire) { request in
            request.target == "/a" ? page("[1]", link: "</b>; rel=next") : .status(404)
        }
        let found = await web.connection().pages(of: [Int].self, from: Route("/a"), prefetching: prefetching)
            .readToTheEnd()
        #expect(found.elements == [[1]])
        #expect(found.error?.kind == .unacceptableStatus)
        #expect(
            found.error?.detail == "on page 2: the server answered 404 Not Found, and only 200 to 299 are accepted"
        )
        #expect(found.error?.request?.url == web.shownHome + "/b")
        #expect(found.error?.elapsed != nil)
    }

    @Test func endAfterAnError() async throws {
        let web = try ScriptedWeb(over: .testConnector) { _ in .status(500) }
        var pages = web.connection().pages(of: [Int].self, from: Route("/a")).makeAsyncIterator()
        let error = await #expect(throws: ApiConnectorError.self) { try await pages.next() }
        #expect(error?.detail.hasPrefix("on page 1: ") == true)
        #expect(try await pages.next() == nil)
        #expect(web.requests.count == 1)
    }

    @Test func sendNothingBeforeTheyAreIteratedNorAhead() async throws {
        let web = try ScriptedWeb(over: .testConnector) { linked($0) }
        let stream = web.connection().pages(of: [Int].self, from: Route("/posts"))
        var pages = stream.makeAsyncIterator()
        #expect(web.requests.isEmpty)
        #expect(try await pages.next() == [1, 2])
        #expect(web.requests.count == 1)
        #expect(try await pages.next() == [])
        #expect(web.requests.count == 2)
    }

    private static let credentials: HTTPHeaders = ["Authorization": "Bearer hush", "X-Api-Key": "hush"]

    @Test(arguments: Wire.allCases)
    func takeNoCredentialsToAnotherOrigin(_ wire: Wire) async throws {
        let away = Locked("")
        let web = try ScriptedWeb(over: wire) { request in
            switch request.target {
            case "/a": page("[1]", link: "<\(away.withLock { $0 })/b>; rel=next")
            default: page("[2]")
            }
        }
        away.withLock { $0 = web.away }
        let api = web.connection(headers: ["Authorization": "Bearer hush"])
        let options = CallOptions(headers: ["X-Api-Key": "hush", "X-Plain": "1"])
        let pages = api.pages(of: [Int].self, from: Route("/a"), options: options)
        #expect(await pages.readToTheEnd().elements == [[1], [2]])
        #expect(web.requests.map { $0.header("Authorization") } == ["Bearer hush", nil])
        #expect(web.requests.map { $0.header("X-Api-Key") } == ["hush", nil])
        #expect(web.requests.map { $0.header("X-Plain") } == ["1", "1"])
        // The call's own fields are for the origin that the call itself names.
        let foreign = try #require(URL(string: web.away + "/a"))
        #expect(await api.pages(of: [Int].self, from: foreign, options: options).readToTheEnd().elements == [[1], [2]])
        #expect(web.requests.dropFirst(2).map { $0.header("Authorization") } == [nil, nil])
        #expect(web.requests.dropFirst(2).map { $0.header("X-Api-Key") } == ["hush", "hush"])
    }

    @Test(arguments: Wire.allCases)
    func keepTheRouteAndItsHeaderFieldsAtTheSameOrigin(_ wire: Wire) async throws {
        let away = Locked("")
        let web = try ScriptedWeb(over: wire) { request in
            switch request.target {
            case "/posts": page("[1]", link: "<posts?page=2>; rel=next")
            case "/posts?page=2": page("[2]", link: "<posts?page=3>; rel=next")
            case "/posts?page=3": page("[3]", link: "<\(away.withLock { $0 })/more>; rel=next")
            default: page("[4]")
            }
        }
        away.withLock { $0 = web.away }
        let api = NetworkConnector(
            environment: web.place,
            provider: web.provider.authenticating(
                by: ApiCredential.perRequest { request in request.routeName == "/posts" ? .bearer("mine") : nil }
            ),
            router: Route.self,
            configuration: ConnectionConfiguration(timeouts: .unlimited)
        )
        let route = Route(
            path: "/posts",
            headers: ["Accept": "application/vnd.posts+json", "X-Tenant": "7", "If-None-Match": "\"a\""]
        )
        #expect(await api.pages(of: [Int].self, from: route).readToTheEnd().elements == [[1], [2], [3], [4]])
        let requests = web.requests
        let mine = "Bearer mine"
        #expect(requests.map { $0.header("Authorization") } == [mine, mine, mine, nil])
        #expect(requests.map { $0.header("X-Tenant") } == ["7", "7", "7", nil])
        let type = "application/vnd.posts+json"
        #expect(requests.map { $0.header("Accept") } == [type, type, type, "application/json"])
        #expect(requests.map { $0.header("If-None-Match") } == ["\"a\"", nil, nil, nil])
    }

    @Test func takeNoFieldsOfABodyToAPageWithoutOne() async throws {
        let web = try ScriptedWeb(over: .testConnector) { request in
            page("[1]", link: request.method == "POST" ? "</a?page=2>; rel=next" : nil)
        }
        let route = Route(
            path: "/a",
            method: .post,
            headers: ["Content-Type": "application/query+json", "Range": "items=0-9", "X-Tenant": "7"],
            body: .json(0)
        )
        #expect(await web.connection().pages(of: [Int].self, from: route).readToTheEnd().elements == [[1], [1]])
        #expect(web.requests.map(\.method) == ["POST", "GET"])
        #expect(web.requests.map { $0.header("Content-Type") } == ["application/query+json", nil])
        #expect(web.requests.map { $0.header("Range") } == ["items=0-9", nil])
        #expect(web.requests.map { $0.header("X-Tenant") } == ["7", "7"])
    }

    @Test(arguments: ["file:///etc/passwd", "ftp://api.example.com/posts", "javascript:0", "mailto:a@example.com"])
    func refuseANextURLThatIsNotHTTP(_ link: String) async throws {
        let web = try ScriptedWeb(over: .testConnector) { _ in page("[1]", link: "<\(link)>; rel=next") }
        let found = await web.connection().pages(of: [Int].self, from: Route("/a")).readToTheEnd()
        #expect(found.elements == [[1]])
        let error = try #require(found.error)
        #expect(error.kind == .redirectRefused)
        #expect(error.detail.hasPrefix("on page 2: the previous page links to \""))
        #expect(error.detail.hasSuffix("\", which is not an http or https URL"))
        #expect(web.requests.count == 1)
    }

    private static let noURLs = [
        "http://[::1/posts", "https://exa mple/x", "https:///x", "https://api.example.com:port/x", "///x", "http:posts",
    ]

    @Test(arguments: noURLs, [false, true])
    func refuseALinkFieldThatIsNotAURL(_ link: String, _ prefetching: Bool) async throws {
        let fields = [
            "<\(link)>; rel=next", "</>; rel=first, <\(link)>; rel=\"prev next\", </>; rel=last",
            "<\(link)>; rel=next, </b>; rel=next; anchor=\"/other\"",
        ]
        for field in fields {
            let web = try ScriptedWeb(over: .testConnector) { _ in page("[1]", link: field) }
            let pages = web.connection().pages(of: [Int].self, from: Route("/a"), prefetching: prefetching)
            let found = await pages.readToTheEnd()
            #expect(found.elements == [[1]])
            let error = try #require(found.error)
            #expect(error.kind == .redirectRefused)
            #expect(
                error.detail
                    == "on page 2: the previous page links to \"\(link)\", which is not an http or https URL"
            )
            #expect(web.requests.count == 1)
        }
    }

    /// The link may belong to the page.
    @Test(arguments: noURLs) func refuseALinkWithAnAnchorThatIsNotAURL(_ anchor: String) async throws {
        let link = "</b>; rel=next; anchor=\"\(anchor)\""
        for field in [link, "</>; rel=first, \(link)", "\(link), </c>; rel=next; anchor=\"/other\""] {
            let web = try ScriptedWeb(over: .testConnector) { _ in page("[1]", link: field) }
            let found = await web.connection().pages(of: [Int].self, from: Route("/a")).readToTheEnd()
            #expect(found.elements == [[1]])
            let error = try #require(found.error)
            #expect(error.kind == .redirectRefused)
            #expect(error.detail.hasPrefix("on page 2: the previous page links to \"</b>; anchor="))
            #expect(web.requests.count == 1)
        }
    }

    @Test(arguments: ["/posts?page=2; rel=next", "oh </b>; rel=\"next\"", "</a>; rel=prev, </b; rel=Next"])
    func refuseAMalformedLinkField(_ field: String) async throws {
        let web = try ScriptedWeb(over: .testConnector) { _ in page("[1]", link: field) }
        let found = await web.connection().pages(of: [Int].self, from: Route("/a")).readToTheEnd()
        #expect(found.elements == [[1]])
        #expect(found.error?.kind == .redirectRefused)
    }

    /// None of these fields links from the page to a next one.
    @Test(arguments: [
        "<http://[>; rel=last", "<http://[>; rel=next; anchor=\"/other\"", "<http://[>", "junk",
        "</b>; rel=last; anchor=\"http://[\"", "</b>; rel=next; anchor=\"mailto:a@example.com\"",
        "</next>; rel=prev, oh <https://next.example.com>; rel=icon",
    ])
    func endWithoutALinkToTheNextPage(_ field: String) async throws {
        let web = try ScriptedWeb(over: .testConnector) { _ in page("[1]", link: field) }
        let found = await web.connection().pages(of: [Int].self, from: Route("/a")).readToTheEnd()
        #expect(found.elements == [[1]])
        #expect(found.error == nil)
    }

    @Test func followAnotherNextLinkThatIsAURL() async throws {
        let web = try ScriptedWeb(over: .testConnector) { request in
            let links = "<http://[>; rel=next, </c>; rel=next; anchor=\"http://[\", </b>; rel=next"
            return page("[1]", link: request.target == "/a" ? links : nil)
        }
        let found = await web.connection().pages(of: [Int].self, from: Route("/a")).readToTheEnd()
        #expect(found.elements == [[1], [1]])
        #expect(found.error == nil)
        #expect(web.requests.map(\.target) == ["/a", "/b"])
    }

    @Test(arguments: Wire.allCases)
    func followALinkInThePage(_ wire: Wire) async throws {
        let home = Locked("")
        let web = try ScriptedWeb(over: wire) { request in
            switch request.target {
            case "/v1/posts": page(#"{"items":[1],"cursor":"?page=2"}"#)
            case "/v1/posts?page=2": page(#"{"items":[2],"cursor":"\#(home.withLock { $0 })/v1/last"}"#)
            default: page(#"{"items":[3],"cursor":""}"#)
            }
        }
        home.withLock { $0 = web.home }
        let pages = web.connection().pages(of: Listing.self, from: Route("/v1/posts"), next: .link { $0.value.cursor })
        let found = await pages.elements(\.items).readToTheEnd()
        #expect(found.elements == [1, 2, 3])
        #expect(found.error == nil)
        #expect(web.requests.map(\.target) == ["/v1/posts", "/v1/posts?page=2", "/v1/last"])
    }

    @Test(arguments: [#""""#, "null"])
    func endAtAnEmptyLinkInThePage(_ cursor: String) async throws {
        let web = try ScriptedWeb(over: .testConnector) { _ in page(#"{"items":[1],"cursor":\#(cursor)}"#) }
        let next: NextPage<Route, Listing> = .link { $0.value.cursor }
        let found = await web.connection().pages(of: Listing.self, from: Route("/a"), next: next).readToTheEnd()
        #expect(found.elements.map(\.items) == [[1]])
        #expect(found.error == nil)
    }

    @Test(arguments: noURLs + ["ftp://api.example.com/posts"])
    func refuseALinkInThePageThatIsNotAURL(_ link: String) async throws {
        let web = try ScriptedWeb(over: .testConnector) { _ in page(#"{"items":[1],"cursor":"\#(link)"}"#) }
        let next: NextPage<Route, Listing> = .link { $0.value.cursor }
        let found = await web.connection().pages(of: Listing.self, from: Route("/a"), next: next).readToTheEnd()
        #expect(found.elements.map(\.items) == [[1]])
        let error = try #require(found.error)
        #expect(error.kind == .redirectRefused)
        #expect(
            error.detail == "on page 2: the previous page links to \"\(link)\", which is not an http or https URL"
        )
    }

    @Test func nameNoSecretOfALinkThatIsNotAURL() async throws {
        let link = "http://[::1/posts?access_token=hush"
        let web = try ScriptedWeb(over: .testConnector) { _ in page("[1]", link: "<\(link)>; rel=next") }
        let found = await web.connection().pages(of: [Int].self, from: Route("/a")).readToTheEnd()
        let error = try #require(found.error)
        #expect(error.kind == .redirectRefused)
        #expect(error.detail.contains("http://[::1/posts?access_token=REDACTED"))
        #expect(!String(describing: error).contains("hush"))
    }

    private static let secureListing = #"{"items":[1],"cursor":"http://api.example.com/posts?page=2&session=hush"}"#

    /// The next page's URL, with its query, would be sent in the clear.
    @Test(arguments: [false, true], [false, true])
    func doNotLeadFromHTTPSToHTTP(_ isLink: Bool, _ prefetching: Bool) async throws {
        let seen = Locked<[URL]>([])
        let provider = TestConnector { request in
            seen.withLock { $0.append(request.url) }
            let link = "<http://api.example.com/posts?page=2&session=hush>; rel=next"
            return .data(Data(Self.secureListing.utf8), headers: isLink ? ["Link": link] : HTTPHeaders())
        }
        let api = NetworkConnector<_, Route>(environment: Place(scheme: .https, port: 443), provider: provider)
        let next: NextPage<Route, Listing> =
            isLink ? .link : .url { page in page.value.cursor.flatMap { URL(string: $0) } }
        let pages = api.pages(of: Listing.self, from: Route("/posts"), next: next, prefetching: prefetching)
        let found = await pages.readToTheEnd()
        #expect(found.elements.map(\.items) == [[1]])
        let error = try #require(found.error)
        #expect(error.kind == .redirectRefused)
        #expect(
            error.detail == "on page 2: the previous page links to "
                + "\"http://api.example.com/posts?page=2&session=REDACTED\", which is not encrypted"
        )
        #expect(seen.withLock { $0 }.map(\.scheme) == ["https"])
    }

    @Test func leadFromHTTPSToHTTPIfRedirectsMay() async throws {
        let provider = TestConnector { request in
            .data(Data((request.url.scheme == "https" ? Self.secureListing : #"{"items":[2]}"#).utf8))
        }
        let api = NetworkConnector<_, Route>(
            environment: Place(scheme: .https, port: 443),
            provider: provider,
            configuration: ConnectionConfiguration(redirects: .follow(allowsInsecure: true))
        )
        let next: NextPage<Route, Listing> = .url { page in page.value.cursor.flatMap { URL(string: $0) } }
        let found = await api.pages(of: Listing.self, from: Route("/posts"), next: next).readToTheEnd()
        #expect(found.elements.map(\.items) == [[1], [2]])
        #expect(found.error == nil)
    }
}
