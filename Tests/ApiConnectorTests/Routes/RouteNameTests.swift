// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Testing

struct RouteNameTests {
    enum Blog: ApiRouter {
        typealias EnvironmentType = Place
        case post(author: String, slug: String)
        case nested(ApiPath)
        case me

        var path: ApiPath {
            switch self {
            case .post(let author, let slug): "/authors/\(author)/posts/\(slug)"
            case .nested(let path): "/v2\(path)/comments"
            case .me: "/me"
            }
        }
    }

    enum Classic: ApiRouter {
        typealias EnvironmentType = Place
        case me
        case post(author: String, slug: String)
        case day(Date)

        var path: String {
            switch self {
            case .me: "/me"
            case .post(let author, let slug): "/authors/\(author)/posts/\(slug)"
            case .day(let day): "/days/\(day.timeIntervalSince1970)"
            }
        }
    }

    enum Raw: String, ApiRouter {
        typealias EnvironmentType = Place
        case me = "/users/me"
    }

    struct Search: ApiRouter {
        typealias EnvironmentType = Place
        let term: String
        var path: String { "/search/\(term)" }
    }

    struct Own: ApiPathConvertible {
        let id: String
        var apiPath: ApiPath { "/own/\(id)" }
    }

    func name(of route: some ApiRouter) throws -> String? {
        let url = try #require(URL(string: "http://h/"))
        return ApiRequest(url: url, route: route).routeName
    }

    @Test func isAPathsOwnTextWithBracesForValues() throws {
        #expect(try name(of: Blog.post(author: "jane", slug: "a/b")) == "/authors/{}/posts/{}")
        #expect(try name(of: Blog.me) == "/me")
    }

    @Test func goesThroughNestedPaths() throws {
        #expect(try name(of: Blog.nested("/posts/\("hush")")) == "/v2/posts/{}/comments")
        #expect(try name(of: Blog.nested(ApiPath(segment: "hush"))) == "/v2/{}/comments")
    }

    @Test func containsNothingOfAnEncodedPath() throws {
        #expect(try name(of: Endpoint(ApiPath(alreadyEncoded: "/users/hush"))) == "{}")
        #expect(try name(of: Blog.nested(ApiPath(alreadyEncoded: "/users/hush"))) == "/v2{}/comments")
    }

    @Test func isTheCaseOfAnEnumWithAStringPath() throws {
        #expect(try name(of: Classic.me) == "me")
        #expect(try name(of: Classic.post(author: "jane", slug: "hush")) == "post")
        #expect(try name(of: Classic.day(.distantPast)) == "day")
        #expect(try name(of: Raw.me) == "me")
    }

    @Test func isTheTypeOfAStructWithAStringPath() throws {
        #expect(try name(of: Search(term: "hush")) == "Search")
    }

    @Test func isTheTemplateOfACustomPathType() throws {
        #expect(try name(of: Endpoint(path: Own(id: "hush"))) == "/own/{}")
    }

    @Test func existsOnlyForRequestsOfAConnection() throws {
        #expect(try Endpoint("/a/\(1)").request().routeName == "/a/{}")
        let url = try #require(URL(string: "http://h/"))
        #expect(ApiRequest(url: url).routeName == nil)
    }
}
