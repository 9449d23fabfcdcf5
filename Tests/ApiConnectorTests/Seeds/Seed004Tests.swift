// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

// The README of ApiConnector, 2016, as it is written with this library.
import ApiConnector
import ApiConnectorTestServers
import ApiConnectorTesting
import Testing

private struct PostsResponses: ResponseProvider {
    func response(for request: ApiRequest) async throws -> TestConnectorResponse {
        .json([Post.sample])
    }
}

private struct ApiConnection<Provider: DataRequestType>: ApiConnectionType {
    typealias RouterType = Router
    typealias RequestType = Provider

    let environment: Environment = .test
    let provider: Provider
    var configuration = ConnectionConfiguration()

    func allPosts(for date: Date) -> ResponseStream<[Post]> {
        stream(at: .posts(for: date))
    }
}

extension ApiConnection where Provider: DefaultDataRequestType {
    init() {
        self.init(provider: Provider())
    }
}

private typealias Connection = ApiConnection<SystemProvider>
private typealias TestConnection<Responses: ResponseProvider> = ApiConnection<TestConnector<Responses>>

struct Seed004Tests {
    @Test func printsTheURLOfTheReadme() {
        #expect(Router.me.url(for: .test).absoluteString == "http://mytestserver.com:80/me")
    }

    @Test func putsQueryItemsIntoTheURL() {
        let url = Router.posts(for: .seedDay).url(for: .production)
        #expect(url.absoluteString == "http://myproductionserver.com:80/posts?date=2016-11-21")
    }

    @Test func theConnectionIsMadeOfItsProvidersType() {
        #expect(Connection().url(at: .me).absoluteString == "http://mytestserver.com:80/me")
        #expect(TestConnection<PostsResponses>().url(at: .me).absoluteString == "http://mytestserver.com:80/me")
    }

    @Test func observesAllPostsAsAStream() async throws {
        var seen: [[Post]] = []
        for try await posts in TestConnection<PostsResponses>().allPosts(for: .seedDay) { seen.append(posts) }
        #expect(seen == [[.sample]])
    }

    @Test func swapsTheProviderByATypeAlias() async throws {
        typealias TestConnection = NetworkConnector<TestConnector<PostsResponses>, Router>
        let api = TestConnection(environment: .test)
        let posts: [Post] = try await api.value(at: .posts(for: .seedDay))
        #expect(posts == [.sample])
        var seen: [[Post]] = []
        for try await posts in api.stream(of: [Post].self, at: .posts(for: .seedDay)) { seen.append(posts) }
        #expect(seen == [[.sample]])
    }

    @Test func swapsTheProviderOfAnOwnConnectionByAnInstance() async throws {
        let api = ApiConnection(
            provider: TestConnector { request in
                #expect(request.url.absoluteString == "http://mytestserver.com:80/posts?date=2016-11-21")
                return .json([Post.sample])
            }
        )
        #expect(try await api.value([Post].self, at: .posts(for: .seedDay)) == [.sample])
    }

    @Test func callsACompletionHandler() async throws {
        let result = await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<[Post], ApiConnectorError>, Never>) in
            TestConnection<PostsResponses>().value(at: .posts(for: .seedDay), isolation: nil) {
                continuation.resume(returning: $0)
            }
        }
        #expect(try result.get() == [.sample])
    }

    @Test(arguments: Wire.sockets)
    func theSameConnectionTypeTalksToARealServer(_ wire: Wire) async throws {
        let web = try ScriptedWeb(over: wire) { _ in .json(#"[{"title":"Hello","description":"The first one"}]"#) }
        let api = ApiConnection(
            provider: Rerouting(wrapped: web.provider, home: web.home),
            configuration: .patient
        )
        var seen: [[Post]] = []
        for try await posts in api.allPosts(for: .seedDay) { seen.append(posts) }
        #expect(seen == [[.sample]])
        #expect(web.requests.map(\.target) == ["/posts?date=2016-11-21"])
    }
}

/// Sends what is for the test server to a server that is there.
private struct Rerouting: DataRequestType {
    let wrapped: AnyProvider
    let home: String

    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        var request = request
        let text = request.url.absoluteString.replacing("http://mytestserver.com:80", with: home)
        request.url = URL(string: text) ?? request.url
        return try await wrapped.response(for: request)
    }
}
