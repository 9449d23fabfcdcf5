// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

/// Requests that are hardly meant as they are.
struct SilentSendTests {
    private func refusal(_ path: ApiPath) -> ApiConnectorError? {
        #expect(throws: ApiConnectorError.self) { try Endpoint(path: path).request() }
    }

    @Test func anEmptyValueInThePathIsRefused() throws {
        let empty = ""
        for path: ApiPath in [
            "/repos/\(empty)/x", "/repos/\(empty)", "\(empty)/x", "/repos/\(empty)\(empty)/x", "/repos/\(1)/\(empty)",
            ApiPath(segment: ""),
        ] {
            let error = refusal(path)
            #expect(error?.kind == .invalidRequest)
            #expect(
                error?.detail.hasSuffix(
                    ": a value in its path is empty, which makes the path that of another resource; write "
                        + "\\(allowingEmpty:) if that is intended"
                ) == true,
                "\(path)"
            )
        }
        #expect(Endpoint(path: "/repos/\(empty)/x" as ApiPath).text() == "http://api.example.com:80/repos//x")
    }

    /// An interpolated value in a `String` cannot be distinguished from the text around it.
    @Test func anEmptySegmentInATextPathIsRefused() throws {
        let empty = ""
        for path in ["/repos/\(empty)/x", "//x", "/a//"] {
            let error = #expect(throws: ApiConnectorError.self) { try Endpoint(path: path).request() }
            #expect(error?.kind == .invalidRequest)
            #expect(
                error?.detail.hasSuffix(
                    ": its path \"\(path)\" has an empty segment, probably from an empty value; declare path as "
                        + "ApiPath, which encodes values and allows \"//\""
                ) == true,
                "\(path)"
            )
        }
        for path in ["", "/", "/repos/", "repos"] { _ = try Endpoint(path: path).request() }
    }

    @Test func aPartOfASegmentMayBeEmpty() throws {
        let empty = ""
        for path: ApiPath in ["/a-\(empty)", "/\(empty).json", "/\(1)\(empty)", "/a/", "//a", "/\(empty)\(1)"] {
            _ = try Endpoint(path: path).request()
        }
    }

    @Test func aRouterCanAllowAnEmptyValue() throws {
        let empty = ""
        let path: ApiPath = "/files/\(allowingEmpty: empty)"
        #expect(try Endpoint(path: path).request().url.absoluteString == "http://api.example.com:80/files/")
    }

    @Test func aBodyWithTheDefaultMethodIsRefused() async throws {
        let route = Endpoint(path: "/me", body: .json(["a": 1]))
        let error = try #require(throws: ApiConnectorError.self) { try route.request() }
        #expect(error.kind == .invalidRequest)
        #expect(
            error.detail
                == "route Endpoint<String>: its method is GET, but it has a body; set its method, or set "
                + "allowsBodyInGet"
        )
        let api = NetworkConnector(
            environment: Place(),
            provider: TestConnector { _ in .status(204) },
            router: Endpoint<String>.self
        )
        let url = try #require(URL(string: "http://api.example.com/"))
        let atURL = try await failure { () throws(ApiConnectorError) in try await api.send(at: url, body: .text("a")) }
        #expect(atURL.detail == "its method is GET, but it has a body; set its method")
        try await api.send(at: url, method: .post, body: .text("a"))
    }

    @Test func aRouterCanAllowABodyInAGet() async throws {
        struct Search: ApiRouter {
            typealias EnvironmentType = Place
            let path = "/_search"
            let body = RequestBody.json(["q": "tea"])
            let allowsBodyInGet = true
        }
        let api = NetworkConnector(
            environment: Place(),
            provider: TestConnector { _ in .status(204) },
            router: Search.self
        )
        #expect(try api.request(at: Search()).method == .get)
    }
}
