// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

struct RequestHeaderTests {
    /// A connection that answers with the header fields that reached it, one line each.
    private func connection(
        place: HTTPHeaders = HTTPHeaders(),
        connection: HTTPHeaders = HTTPHeaders()
    ) -> NetworkConnector<TestConnector<ClosureResponses>, Endpoint<String>> {
        NetworkConnector(
            environment: Place(defaultHeaders: place),
            provider: TestConnector { request in .json(request.headers.map { "\($0.name): \($0.value)" }) },
            configuration: ConnectionConfiguration(headers: connection)
        )
    }

    @Test func laterFieldsReplaceEarlierOnes() throws {
        let api = connection(
            place: ["E": "environment", "R": "environment", "C": "environment", "O": "environment"],
            connection: ["c": "connection", "o": "connection"]
        )
        let route = Endpoint(path: "/me", headers: ["r": "router", "c": "router", "o": "router"])
        let request = try api.request(at: route, options: CallOptions(headers: ["O": "call", "N": "call"]))
        let lines = request.headers.map { "\($0.name): \($0.value)" }
        #expect(lines == ["E: environment", "r: router", "c: connection", "O: call", "N: call", "Accept: */*"])
    }

    @Test func replacesAllFieldsOfANameAndDropsNothingElse() throws {
        let api = connection(place: ["A": "1", "A": "2", "B": "3"])
        let request = try api.request(at: Endpoint(path: "/me", headers: ["a": "4", "a": "5"]))
        #expect(request.headers.values("A") == ["4", "5"])
        #expect(request.headers.values("B") == ["3"])
    }

    @Test func sendsTheAcceptOfTheCall() async throws {
        let lines: [String] = try await connection().value(at: Endpoint(path: "/me"))
        #expect(lines == ["Accept: application/json"])
        let decoded = try await connection().response(of: [String].self, at: Endpoint(path: "/me"))
        #expect(decoded.value == ["Accept: application/json"])
        let data = try await connection().data(at: Endpoint(path: "/me"))
        #expect(try JSONDecoder().decode([String].self, from: data) == ["Accept: */*"])
        let response = try await connection().response(at: Endpoint(path: "/me"))
        #expect(response.request.headers.values(.accept) == ["*/*"])
    }

    @Test func keepsAnExistingAccept() async throws {
        let route = Endpoint(path: "/me", headers: ["accept": "application/vnd.api+json"])
        let options = CallOptions(validation: .unchecked)
        let lines: [String] = try await connection().value(at: route, options: options)
        #expect(lines == ["accept: application/vnd.api+json"])
    }

    @Test(arguments: [
        (RequestBody.json(["a": 1]), "application/json"),
        (.json(["a": 1], mediaType: MediaType("application", "vnd.api+json")), "application/vnd.api+json"),
        (.text("a"), "text/plain; charset=utf-8"),
        (.data(Data([1])), "application/octet-stream"),
        (.data(Data(), mediaType: .form), "application/x-www-form-urlencoded"),
    ])
    func sendsTheContentTypeOfTheBody(_ body: RequestBody, _ type: String) throws {
        let request = try Endpoint(path: "/me", method: .post, body: body).request()
        #expect(request.headers[.contentType] == type)
    }

    @Test func sendsNoContentTypeWithoutABody() throws {
        #expect(try !Endpoint(path: "/me", method: .post).request().headers.contains(.contentType))
    }

    @Test func keepsAnExistingContentType() throws {
        let headers: HTTPHeaders = ["content-type": "application/json; charset=utf-8"]
        let request = try Endpoint(path: "/me", method: .post, headers: headers, body: .json([1])).request()
        #expect(request.headers.values(.contentType) == ["application/json; charset=utf-8"])
    }

    @Test func refusesAValueWithALineBreak() throws {
        let route = Endpoint(path: "/me", headers: ["Authorization": "hush\n"])
        let error = try #require(throws: ApiConnectorError.self) { try route.request() }
        #expect(error.kind == .invalidRequest)
        #expect(
            error.description == "GET http://api.example.com/me failed (invalidRequest): "
                + "the value of its header field Authorization holds a control character, such as a line break; trim it before it is set. "
                + "Nothing was sent; fix the route, the environment or the header."
        )
    }

    @Test func refusesANameThatIsNotATokenAndShowsItOnOneLine() throws {
        let route = Endpoint(path: "/me", headers: ["X\r\nY": "1"])
        let error = try #require(throws: ApiConnectorError.self) { try route.request() }
        #expect(
            error.description == "GET http://api.example.com/me failed (invalidRequest): "
                + #"the name of its header field "X\r\nY" is not a token of RFC 9110. "#
                + "Nothing was sent; fix the route, the environment or the header."
        )
    }

    @Test func refusesAMethodThatIsNotAToken() throws {
        let route = Endpoint(path: "/me", method: "GET /other HTTP/1.1\r\n")
        let error = try #require(throws: ApiConnectorError.self) { try route.request() }
        #expect(error.kind == .invalidRequest)
        #expect(error.detail == #"its method "GET /other HTTP/1.1\r\n" is not a token of RFC 9110"#)
        #expect(!error.description.contains("\r\n"))
    }

    /// A connection has already checked the request, but a wrapper may change it afterward.
    @Test func refusesARequestMadeInvalidAfterItsCheck() throws {
        let request = try Endpoint(path: "/me").request()
        try request.checkSendable()
        let changes: [(inout ApiRequest) -> Void] = [
            { $0.url = URL(filePath: "/me") },
            { $0.method = "GET /other" },
            { $0.headers.append("X-Stamp", "a\r\nb") },
            { $0.headers["X-Stamp"] = "a\nb" },
        ]
        for change in changes {
            var changed = request
            change(&changed)
            #expect(throws: ApiConnectorError.self) { try changed.checkSendable() }
        }
    }

    @Test(arguments: [
        ("ftp://h/", "its URL has the scheme \"ftp\", but only http and https are supported"),
        ("/me", "its URL has no scheme, but only http and https are supported"),
        ("http:///me", "its URL has no host"), ("http://:80/me", "its URL has no host"),
    ])
    func refusesAHandmadeRequestWithoutAHost(_ url: String, _ detail: String) throws {
        let request = ApiRequest(url: try #require(URL(string: url)))
        let error = try #require(throws: ApiConnectorError.self) { try request.checkSendable() }
        #expect(error.kind == .invalidRequest)
        #expect(error.detail == detail)
    }
}
