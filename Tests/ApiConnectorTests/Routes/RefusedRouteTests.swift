// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

struct RefusedRouteTests {
    enum Router: ApiRouter {
        typealias EnvironmentType = Place

        case author(String)
        case parent
        case me

        var path: ApiPath {
            switch self {
            case .author(let name): "/authors/\(name)"
            case .parent: "/a/../b"
            case .me: "/me"
            }
        }
    }

    static let advice = "Nothing was sent; fix the route, the environment or the header."

    func refusal<Router: ApiRouter>(of route: Router, in place: Place = Place()) throws -> String
    where Router.EnvironmentType == Place {
        let connection = NetworkConnector(
            environment: place,
            provider: TestConnector { _ in .never },
            router: Router.self
        )
        let error = try #require(throws: ApiConnectorError.self) { try connection.request(at: route) }
        #expect(error.kind == .invalidRequest)
        #expect(error.stage == .url)
        return error.description
    }

    @Test func refusesAnEmptyHost() throws {
        let text = try refusal(of: Router.me, in: Place(host: ""))
        #expect(
            text
                == "GET http:///me failed (invalidRequest): route /me: the environment's host is empty. \(Self.advice)"
        )
    }

    @Test func refusesAHostThatIsMoreThanAHost() throws {
        let text = try refusal(of: Router.author("jane"), in: Place(host: "other/v1"))
        #expect(
            text == "GET http://other%2Fv1/authors/jane failed (invalidRequest): route /authors/{}: the "
                + "environment's host \"other%2Fv1\" is not a plain host name; set scheme, port and path in their own "
                + "properties. \(Self.advice)"
        )
    }

    @Test func sendsAnEmptyPartOfASegmentAfterAnEncodedPath() throws {
        let path: ApiPath = "\(ApiPath(alreadyEncoded: "/a"))/b\("")"
        let request = try Endpoint(path).request(in: Place())
        #expect(request.url.absoluteString == "http://api.example.com:80/a/b")
    }

    @Test(arguments: [(0, ":0"), (-1, ""), (70000, ":70000"), (Int.max, ":9223372036854775807"), (Int.min, "")])
    func refusesAPortThatDoesNotExist(_ port: Int, _ written: String) throws {
        let text = try refusal(of: Router.me, in: Place(port: port))
        #expect(
            text == "GET http://api.example.com\(written)/me failed (invalidRequest): route /me: the environment's "
                + "port \(port) is not valid; use 1 to 65535, or nil to leave it out. "
                + Self.advice
        )
    }

    @Test(arguments: [1, 443, 65535])
    func sendsToEveryPortThatExists(_ port: Int) throws {
        let request = try Endpoint(text: "/me").request(in: Place(port: port))
        #expect(request.url.absoluteString == "http://api.example.com:\(port)/me")
    }

    @Test(arguments: [(".", "%2E"), ("..", "%2E%2E")])
    func refusesDotsAsAValue(_ dots: String, _ written: String) throws {
        let text = try refusal(of: Router.author(dots))
        #expect(
            text == "GET http://api.example.com/authors/\(written) failed (invalidRequest): route /authors/{}: its "
                + "path has a segment \"\(dots)\", which servers resolve to another path. \(Self.advice)"
        )
    }

    @Test(arguments: [
        ("../admin", ".."), ("a/..", ".."), ("a/../b", ".."), ("/..", ".."), ("./a", "."), ("a/.", "."),
        ("..\\admin", ".."), ("a\\..", ".."), ("a\\..\\b", ".."), (".\\..\\b", ".."), ("a/./b", "."),
    ]) func refusesDotsNextToASlashInAValue(_ value: String, _ dots: String) throws {
        let text = try refusal(of: Router.author(value))
        #expect(
            text.hasSuffix(
                "route /authors/{}: its path has a segment \"\(dots)\", which servers resolve to another path. "
                    + Self.advice
            )
        )
    }

    @Test(arguments: ["/a/..%2fb", "/a%2F../b", "/a%5c%2e%2E", "/..%5Ca", "/a%2F.%2e%5Cb"])
    func refusesDotsNextToAnEncodedSlash(_ path: String) throws {
        let text = try refusal(of: Endpoint(ApiPath(alreadyEncoded: path)))
        #expect(
            text.hasSuffix(
                "its path has a segment \"..\", which servers resolve to another path. \(Self.advice)"
            )
        )
    }

    @Test(arguments: ["a/b", "..a/b", "a/..b", "a../b", "a/.../b", "a\\b.c", "/", "a/", "%2F..", "..%2F"])
    func sendsASlashWithoutDotsInAValue(_ value: String) throws {
        #expect(try Endpoint("/a/\(value)").request().url.absoluteString.hasPrefix("http://api.example.com"))
    }

    /// A dot next to a backslash stays in its folder.
    @Test(arguments: [
        (".\\SQLEXPRESS", ".%5CSQLEXPRESS"), ("a\\.", "a%5C."), ("a\\.\\b", "a%5C.%5Cb"), ("a\\./b", "a%5C.%2Fb"),
    ]) func sendsADotNextToABackslash(_ value: String, _ written: String) throws {
        let url = try Endpoint("/a/\(value)").request().url
        #expect(url.absoluteString.hasSuffix("/a/\(written)"))
    }

    @Test func refusesDotsInALiteral() throws {
        let text = try refusal(of: Router.parent)
        #expect(
            text == "GET http://api.example.com/a/%2E%2E/b failed (invalidRequest): route /a/../b: its path has a "
                + "segment \"..\", which servers resolve to another path. \(Self.advice)"
        )
    }

    @Test(arguments: ["..", "/..", "/a/../b", "a/..", "../a"])
    func refusesDotsInAStringPath(_ path: String) throws {
        let text = try refusal(of: Endpoint(text: path))
        let written = (path.hasPrefix("/") ? path : "/" + path).replacing("..", with: "%2E%2E")
        #expect(
            text == "GET http://api.example.com\(written) failed (invalidRequest): route Endpoint<String>: its path "
                + "has a segment \"..\", which servers resolve to another path. \(Self.advice)"
        )
    }

    @Test(arguments: ["/%2e%2E/a", "/.%2e/a", "/%2E./a", "/../a"])
    func refusesEncodedDots(_ path: String) throws {
        let text = try refusal(of: Endpoint(ApiPath(alreadyEncoded: path)))
        #expect(text.hasPrefix("GET http://api.example.com/%2E%2E/a failed (invalidRequest): route "))
        #expect(
            text.hasSuffix(
                "its path has a segment \"..\", which servers resolve to another path. \(Self.advice)"
            )
        )
    }

    @Test func refusesDotsPutTogetherOfLiteralAndValue() throws {
        let text = try refusal(of: Endpoint("/a/.\(".")"))
        #expect(
            text == "GET http://api.example.com/a/%2E%2E failed (invalidRequest): route /a/.{}: its path has a "
                + "segment \"..\", which servers resolve to another path. \(Self.advice)"
        )
    }

    @Test func namesTheBasePathForItsOwnDots() throws {
        let text = try refusal(of: Router.me, in: Place(basePath: "/v1/.."))
        #expect(
            text == "GET http://api.example.com/v1/%2E%2E/me failed (invalidRequest): route /me: the environment's "
                + "base path has a segment \"..\", which servers resolve to another path. "
                + Self.advice
        )
    }

    @Test(arguments: ["...", ".a", "a.", "..;", ".%2F", ".\u{301}", "%2E%2E"])
    func sendsNamesThatOnlyLookLikeDots(_ value: String) throws {
        #expect(try Endpoint("/a/\(value)").request().url.pathComponents.count == 3)
    }

    @Test func showsNoSecretOfTheQuery() throws {
        let route = Endpoint(path: "/..", queryItems: [URLQueryItem(name: "token", value: "hush")])
        #expect(try !refusal(of: route).contains("hush"))
    }
}
