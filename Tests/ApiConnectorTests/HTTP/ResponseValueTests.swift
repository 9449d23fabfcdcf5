// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

struct ResponseValueTests {
    struct Comment: Codable, Equatable {
        let author: String
        let likes: Int
    }

    struct Page: Codable, Equatable {
        let comments: [Comment]
    }

    /// A custom provider that follows none of a transport's rules.
    struct Careless: DataRequestType {
        let status: HTTPStatus

        func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
            ApiResponse(to: request, status: status, body: ResponseBody(Data("no JSON".utf8)))
        }
    }

    private func api(
        _ response: TestConnectorResponse
    ) -> NetworkConnector<TestConnector<ClosureResponses>, Endpoint<String>> {
        NetworkConnector(environment: Place(), provider: TestConnector { _ in response })
    }

    private func text(
        _ json: String,
        status: HTTPStatus = 200,
        type: String = "application/json"
    ) -> TestConnectorResponse {
        .data(Data(json.utf8), status: status, headers: ["Content-Type": type])
    }

    @Test(arguments: [200, 201, 204, 205] as [HTTPStatus])
    func isNilForAnEmptyBodyWhereItIsOptional(_ status: HTTPStatus) async throws {
        #expect(try await api(.status(status)).value(Comment?.self, at: Endpoint(path: "/me")) == nil)
        let response = try await api(.status(status)).response(of: [Comment]?.self, at: Endpoint(path: "/me"))
        #expect(response.value == nil)
        #expect(response.status == status)
    }

    @Test func isNilForAHead() async throws {
        let route = Endpoint(path: "/me", method: .head)
        #expect(try await api(text("{}")).value(Comment?.self, at: route) == nil)
        #expect(try await api(text("{}")).data(at: route) == Data())
        try await api(text("{}")).send(at: route)
    }

    @Test func isNilForJSONsNull() async throws {
        #expect(try await api(text("null")).value(Comment?.self, at: Endpoint(path: "/me")) == nil)
    }

    @Test func readsNoBodyOfAResponseWithoutABody() async throws {
        let none = NetworkConnector(
            environment: Place(),
            provider: Careless(status: 204),
            router: Endpoint<String>.self
        )
        #expect(try await none.value(Comment?.self, at: Endpoint(path: "/me")) == nil)
        let head = NetworkConnector(
            environment: Place(),
            provider: Careless(status: 200),
            router: Endpoint<String>.self
        )
        #expect(try await head.value(Comment?.self, at: Endpoint(path: "/me", method: .head)) == nil)
    }

    @Test func saysWhatToDoAboutAnEmptyBody() async throws {
        let error = try await #require(throws: ApiConnectorError.self) {
            try await api(.status(204)).value(Comment.self, at: Endpoint(path: "/me"))
        }
        #expect(error.kind == .decodingFailed)
        #expect(
            error.description == "GET http://api.example.com/me failed (decodingFailed): the server answered 204 No "
                + "Content without a body, but the call expects a value of type Comment; expect Comment? if the body "
                + "can be empty, or call send(at:) if no value is needed."
        )
    }

    @Test(arguments: [
        (
            #"{"comments": [{"author": "a", "likes": 1}, {"author": "b", "likes": "many"}]}"#,
            #"at "comments[1].likes" a value of type Int was expected; found "many""#
        ),
        (
            #"{"comments": [{"author": "a"}]}"#,
            #"at "comments[0]" the key "likes" is missing; found {"author":"a"}"#
        ),
        (
            #"{"comments": [{"author": null, "likes": 1}]}"#,
            #"at "comments[0].author" a value of type String was expected; found null"#
        ),
        (#"[]"#, #"at the top level an object was expected; found []"#),
    ])
    func namesThePlaceAndValueThatDoNotDecode(_ json: String, _ detail: String) async throws {
        let error = try await #require(throws: ApiConnectorError.self) {
            try await api(text(json)).value(Page.self, at: Endpoint(path: "/me"))
        }
        #expect(error.kind == .decodingFailed)
        #expect(error.stage == .value)
        let array = "The body is an array: request [Page], or stream its elements with stream(of:at:as:) as .elements."
        #expect(
            error.description == "GET http://api.example.com/me failed (decodingFailed): "
                + "the body does not decode as Page: \(detail). "
                + (json == "[]" ? array : "Compare the model with the server's JSON.") + " The body: \(json)"
        )
    }

    @Test func failsForABodyOverTheLimit() async throws {
        let error = try await #require(throws: ApiConnectorError.self) {
            try await api(text("12345")).data(at: Endpoint(path: "/me"), options: CallOptions(maximumBodyByteCount: 4))
        }
        #expect(error.kind == .bodyTooLarge)
        #expect(
            error.description == "GET http://api.example.com/me failed (bodyTooLarge): "
                + "the body is longer than the limit of 4 bytes. "
                + "Raise options.maximumBodyByteCount if such a body is expected."
        )
        let data = try await api(text("12345"))
            .data(at: Endpoint(path: "/me"), options: CallOptions(maximumBodyByteCount: 5))
        #expect(data.count == 5)
    }

    @Test func showsTheServersStatusAndBody() async throws {
        let error = try await #require(throws: ApiConnectorError.self) {
            try await api(text("{\"reason\":\n  \"none\"}", status: 404)).send(at: Endpoint(path: "/me"))
        }
        #expect(error.kind == .unacceptableStatus)
        #expect(
            error.description == "GET http://api.example.com/me failed (unacceptableStatus): "
                + "the server answered 404 Not Found, and only 200 to 299 are accepted. "
                + "Check the route's path and method, and the environment. The body: {\"reason\": \"none\"}"
        )
    }

    @Test func refusesHTMLIfJSONWasRequested() async throws {
        let error = try await #require(throws: ApiConnectorError.self) {
            try await api(text("<p>Hi</p>", type: "Text/HTML; charset=utf-8"))
                .value(Comment.self, at: Endpoint(path: "/me"))
        }
        #expect(error.kind == .unacceptableMediaType)
        #expect(
            error.description == "GET http://api.example.com/me failed (unacceptableMediaType): "
                + "the server answered 200 OK with a body of type text/html; charset=utf-8, but application/json was "
                + "requested. Check that the URL is that of an API, not of a web page; if the "
                + "type is right, name it in an Accept header. The body: <p>Hi</p>"
        )
    }

    @Test(arguments: [
        ("application/json", "application/problem+json; charset=utf-8"), ("application/json;q=0.9", "text/json"),
        ("application/json; charset=utf-8", "application/json"), ("*/*", "image/png"), ("image/*", "image/png"),
        ("application/json", "garbage"), ("garbage", "image/png"),
    ])
    func acceptsTheRequestedType(_ accept: String, _ type: String) async throws {
        let route = Endpoint(path: "/me", headers: ["Accept": accept])
        #expect(try await api(text("1", type: type)).data(at: route) == Data("1".utf8))
    }

    @Test func acceptsATypeOfAnyAcceptField() async throws {
        let route = Endpoint(path: "/me", headers: ["Accept": "text/plain", "Accept": "image/png"])
        #expect(try await api(text("1", type: "image/png")).data(at: route) == Data("1".utf8))
    }
}
