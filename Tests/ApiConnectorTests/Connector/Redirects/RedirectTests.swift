// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import Testing

struct RedirectTests {
    private static let there = Data("there".utf8)

    /// RFC 9110, section 15.4, and what browsers make of a POST.
    @Test(
        arguments: Wire.allCases,
        [
            "301 GET GET", "301 HEAD HEAD", "301 POST GET", "301 PUT PUT body", "301 PATCH PATCH body",
            "302 GET GET", "302 HEAD HEAD", "302 POST GET", "302 PUT PUT body", "302 DELETE DELETE",
            "303 GET GET", "303 HEAD HEAD", "303 POST GET", "303 PUT GET", "303 DELETE GET",
            "307 GET GET", "307 HEAD HEAD", "307 POST POST body", "307 PUT PUT body", "307 DELETE DELETE",
            "308 GET GET", "308 HEAD HEAD", "308 POST POST body", "308 PATCH PATCH body", "308 DELETE DELETE",
        ]
    )
    func keepsOrChangesTheMethodAsTheStatusSays(_ wire: Wire, _ row: String) async throws {
        let words = row.split(separator: " ").map(String.init)
        let web = try ScriptedWeb(redirectingOver: wire)
        let method = HTTPMethod(rawValue: words[1])
        let hasBody = [.post, .put, .patch].contains(method)
        let response = try await web.connection().response(
            at: try ScriptedWeb.hop(try #require(Int(words[0])), from: web.home, to: "/end"),
            method: method,
            body: hasBody ? .text("hello") : .empty,
            options: CallOptions(headers: hasBody ? ["Content-Language": "en", "X-Kept": "1"] : ["X-Kept": "1"])
        )
        #expect(response.status == 200)
        #expect(response.url.absoluteString == web.home + "/end")
        #expect(web.requests.map(\.method) == [words[1], words[2]])
        let last = try #require(web.requests.last)
        #expect(last.target == "/end")
        #expect(last.header("X-Kept") == "1")
        #expect(last.body == (words.last == "body" ? Data("hello".utf8) : Data()))
        #expect(last.header("Content-Type") == (words.last == "body" ? "text/plain; charset=utf-8" : nil))
        #expect(last.header("Content-Language") == (words.last == "body" ? "en" : nil))
    }

    @Test(arguments: Wire.allCases, [300, 304, 305, 306, 399])
    func followsNoOtherStatus(_ wire: Wire, _ status: Int) async throws {
        let web = try ScriptedWeb(redirectingOver: wire)
        let url = try ScriptedWeb.hop(status, from: web.home, to: "/end")
        let error = try await failure { () throws(ApiConnectorError) in try await web.connection().data(at: url) }
        #expect(error.kind == .unacceptableStatus)
        #expect(error.response?.status.rawValue == status)
        #expect(web.requests.count == 1)
    }

    // MARK: How many

    @Test(arguments: Wire.allCases)
    func followsAtMost20(_ wire: Wire) async throws {
        let web = try ScriptedWeb(over: wire) { request in
            guard let number = Int(request.target.dropFirst()), number > 0 else { return .text("there") }
            return LoopbackResponse(status: 302, headers: [("Location", "/\(number - 1)")])
        }
        #expect(try await web.connection().data(at: try #require(URL(string: web.home + "/20"))) == Self.there)
        #expect(web.requests.count == 21)

        let url = try #require(URL(string: web.home + "/21"))
        let error = try await failure { () throws(ApiConnectorError) in try await web.connection().data(at: url) }
        #expect(error.kind == .tooManyRedirects)
        #expect(web.requests.count == 42)
        #expect(
            error.description == "GET \(web.shownHome)/1 failed (tooManyRedirects): there were more than 20 redirects. "
                + "Request the last URL directly, or report the redirect loop to the server's owner."
        )
    }

    @Test func theLimitIsTheConnectionsOrTheCalls() async throws {
        let web = try ScriptedWeb(redirectingOver: .testConnector)
        let url = try ScriptedWeb.chain([302, 301, 307], from: web.home, to: "/end")
        #expect(try await web.connection(redirects: .follow(upTo: 3)).data(at: url) == Self.there)
        for limit in [0, 1, 2] {
            let error = try await failure { () throws(ApiConnectorError) in
                try await web.connection(redirects: .follow(upTo: limit)).data(at: url)
            }
            #expect(error.kind == .tooManyRedirects)
            #expect(error.detail == "there were more than \(limit) redirects")
        }
        let options = CallOptions(redirects: .follow(upTo: 3))
        #expect(try await web.connection(redirects: .never).data(at: url, options: options) == Self.there)
    }

    @Test(arguments: Wire.allCases)
    func detectsARedirectLoop(_ wire: Wire) async throws {
        let web = try ScriptedWeb(over: wire) { request in
            LoopbackResponse(status: 302, headers: [("Location", request.target == "/a" ? "/b?token=hush" : "/a")])
        }
        let url = try #require(URL(string: web.home + "/a"))
        let error = try await failure { () throws(ApiConnectorError) in try await web.connection().data(at: url) }
        #expect(error.kind == .tooManyRedirects)
        #expect(web.requests.map(\.target) == ["/a", "/b?token=hush"])
        #expect(
            error.description
                == "GET \(web.shownHome)/b?token=REDACTED failed (tooManyRedirects): the redirects form a "
                + "loop: they led back to \(web.shownHome)/a. Request the last URL directly, or report the redirect loop to "
                + "the server's owner."
        )
    }

    @Test(arguments: ["/a", "", "#here", "./a", "http://api.example.com:80/a", "HTTP://API.example.com/a"])
    func aRedirectToItselfIsALoop(_ location: String) async throws {
        let web = try ScriptedWeb(over: .testConnector) { _ in
            LoopbackResponse(status: 307, headers: [("Location", location)])
        }
        let url = try #require(URL(string: web.home + "/a"))
        let error = try await failure { () throws(ApiConnectorError) in try await web.connection().data(at: url) }
        #expect(error.kind == (location.isEmpty ? .redirectRefused : .tooManyRedirects))
        #expect(web.requests.count == 1)
    }

    @Test(arguments: ["/a/", "/A", "/a?", "/a?x", "http://api.example.com:8080/a", "http://www.api.example.com/a"])
    func anotherURLIsNotALoop(_ location: String) async throws {
        let web = try ScriptedWeb(over: .testConnector) { request in
            guard request.url == "http://api.example.com:80/a" else { return .text("there") }
            return LoopbackResponse(status: 302, headers: [("Location", location)])
        }
        let url = try #require(URL(string: web.home + "/a"))
        #expect(try await web.connection().data(at: url) == Self.there)
    }

    @Test func theSameURLWithAnotherMethodIsNotALoop() async throws {
        let web = try ScriptedWeb(over: .testConnector) { request in
            request.method == "GET" ? .text("there") : LoopbackResponse(status: 303, headers: [("Location", "/form")])
        }
        let url = try #require(URL(string: web.home + "/form"))
        #expect(try await web.connection().data(at: url, method: .post, body: .text("x")) == Self.there)
        #expect(web.requests.map(\.method) == ["POST", "GET"])
    }

    @Test func theSameURLWithANewCookieIsNotALoop() async throws {
        let web = try ScriptedWeb(over: .testConnector) { request in
            let headers = [("Location", "/a"), ("Set-Cookie", "seen=1")]
            return request.header("X-Cookie") == nil ? LoopbackResponse(status: 302, headers: headers) : .text("there")
        }
        let jar = CookieJar(wrapped: web.provider)
        let api = NetworkConnector(environment: web.place, provider: jar, router: Endpoint<ApiPath>.self)
        #expect(try await api.data(at: Endpoint("/a")) == Self.there)
        #expect(web.requests.count == 2)
    }

    // MARK: Bodies

    /// R2: URLSessionProvider sends bodies from memory.
    private static let streaming = Wire.allCases.filter { $0 != .urlSession && !$0.isFoundationNetworking }

    @Test(arguments: streaming)
    func aReplayableBodyIsSentAgain(_ wire: Wire) async throws {
        let web = try ScriptedWeb(redirectingOver: wire)
        let url = try ScriptedWeb.chain([307, 308], from: web.home, to: "/end")
        let body = RequestBody.stream(byteCount: 5) { Chunks(["he", "llo"]) }
        #expect(try await web.connection().data(at: url, method: .put, body: body) == Self.there)
        #expect(web.requests.map(\.body) == [Data("hello".utf8), Data("hello".utf8), Data("hello".utf8)])
    }

    @Test(arguments: streaming)
    func aBodyThatIsNotReplayableIsNotSentAgain(_ wire: Wire) async throws {
        let web = try ScriptedWeb(redirectingOver: wire)
        let url = try ScriptedWeb.hop(307, from: web.home, to: "/end")
        let body = RequestBody.stream(byteCount: 5, isReplayable: false) { Chunks(["he", "llo"]) }
        let error = try await failure { () throws(ApiConnectorError) in
            try await web.connection().data(at: url, method: .post, body: body)
        }
        #expect(error.kind == .notReplayable)
        #expect(web.requests.map(\.body) == [Data("hello".utf8)])
        #expect(
            error.description
                == "POST \(ScriptedWeb.shown(url)) failed (notReplayable): the server answered 307 Temporary Redirect, "
                + "and the body cannot be sent a second time. Send the request again with a new body."
        )
    }

    @Test(arguments: streaming)
    func aBodyThatIsNotReplayableIsNotNeededForAGet(_ wire: Wire) async throws {
        let web = try ScriptedWeb(redirectingOver: wire)
        let url = try ScriptedWeb.hop(303, from: web.home, to: "/end")
        let body = RequestBody.stream(byteCount: 5, isReplayable: false) { Chunks(["he", "llo"]) }
        #expect(try await web.connection().data(at: url, method: .post, body: body) == Self.there)
        #expect(web.requests.map(\.body) == [Data("hello".utf8), Data()])
    }

    // MARK: The stages round it

    @Test(arguments: Wire.allCases)
    func eachHopPassesEveryWrapperAsItsOwnRequest(_ wire: Wire) async throws {
        let web = try ScriptedWeb(redirectingOver: wire)
        let api = NetworkConnector(
            environment: web.place,
            provider: Signing(wrapped: web.provider),
            router: Endpoint<ApiPath>.self,
            configuration: .patient
        )
        let url = try ScriptedWeb.chain([302, 307], from: web.home, to: web.away + "/end")
        #expect(try await api.data(at: url) == Self.there)
        let signed = web.requests.map { $0.header("X-Signed-For") }
        #expect(signed == web.requests.map { String($0.url.prefix { $0 != "?" }) })
        #expect(signed.count == 3)
    }

    @Test(arguments: Wire.allCases)
    func afterACallThatFollowedAnotherOneWorks(_ wire: Wire) async throws {
        let web = try ScriptedWeb(redirectingOver: wire)
        for status in [301, 302, 303, 307, 308] {
            let url = try ScriptedWeb.hop(status, from: web.home, to: "/\(status)/end")
            #expect(try await web.connection().data(at: url) == Self.there)
        }
        #expect(web.requests.count == 10)
    }
}

/// Sends a mark once it was given a cookie.
private struct CookieJar: DataRequestType {
    let wrapped: AnyProvider
    private let hasCookie = Gate()

    init(wrapped: AnyProvider) { self.wrapped = wrapped }

    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        var request = request
        if hasCookie.isOpen { request.headers["X-Cookie"] = "1" }
        let response = try await wrapped.response(for: request)
        if response.headers.contains(.setCookie) { hasCookie.open() }
        return response
    }
}

/// Signs each request for its own address.
private struct Signing: DataRequestType {
    let wrapped: AnyProvider

    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        var request = request
        request.headers["X-Signed-For"] = String(request.url.absoluteString.prefix { $0 != "?" })
        return try await wrapped.response(for: request)
    }
}

/// A source of chunks.
private struct Chunks: AsyncSequence {
    let texts: [String]

    init(_ texts: [String]) { self.texts = texts }

    struct AsyncIterator: AsyncIteratorProtocol {
        var texts: ArraySlice<String>

        mutating func next() async -> Data? { texts.popFirst().map { Data($0.utf8) } }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(texts: texts[...]) }
}
