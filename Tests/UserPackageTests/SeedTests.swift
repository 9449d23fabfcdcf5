// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

// A router, a connection type and a test of 2016, written for this library.
import ApiConnector
import ApiConnectorTesting
import Testing

enum Environment: String, ApiEnvironment {
    case localhost
    case test = "mytestserver.com"
    case production = "myproductionserver.com"
}

enum Router: ApiRouter {
    typealias EnvironmentType = Environment

    case auth, me
    case posts(for: Date)

    var path: String {
        switch self {
        case .auth: return "/auth"
        case .me: return "/me"
        case .posts(_): return "/posts"
        }
    }

    var queryItems: [URLQueryItem]? {
        switch self {
        case .posts(for: let date):
            return [URLQueryItem(name: "date", value: date.formatted(.iso8601.year().month().day()))]
        default:
            return nil
        }
    }

    var method: HTTPMethod {
        switch self {
        case .auth: return .post
        default: return .get
        }
    }
}

struct Post: ApiModel, Equatable {
    let title: String
    let description: String
}

struct ApiConnection<Provider: DataRequestType>: ApiConnectionType {
    typealias RouterType = Router
    typealias RequestType = Provider

    let environment: Environment = .test
    let provider: Provider

    func allPosts(for date: Date) -> ResponseStream<[Post]> {
        stream(at: .posts(for: date))
    }
}

extension ApiConnection where Provider: DefaultDataRequestType {
    init() { self.init(provider: Provider()) }
}

typealias Connection = ApiConnection<SystemProvider>
typealias TestConnection<Responses: ResponseProvider> = ApiConnection<TestConnector<Responses>>

struct PostsResponseProvider: ResponseProvider {
    static let posts = [Post(title: "Tea", description: "How to brew it")]

    func response(for request: ApiRequest) async throws -> TestConnectorResponse {
        .json(Self.posts, status: 200)
    }
}

@Suite(.timeLimit(.minutes(10))) struct SeedTests {
    private let day = Date(timeIntervalSince1970: 1_479_686_400)

    @Test func printsTheURLOfAnEndpoint() {
        #expect(Router.me.url(for: .test).absoluteString == "http://mytestserver.com:80/me")
        #expect(Connection().url(at: .auth).absoluteString == "http://mytestserver.com:80/auth")
    }

    @Test func aTypeAliasReplacesTheTransport() async throws {
        var elements: [[Post]] = []
        for try await posts in TestConnection<PostsResponseProvider>().allPosts(for: day) { elements.append(posts) }
        #expect(elements == [PostsResponseProvider.posts])
    }

    @Test func theDefaultConnectorNeedsNoOwnType() async throws {
        typealias Live = NetworkConnector<SystemProvider, Router>
        typealias Test = NetworkConnector<TestConnector<PostsResponseProvider>, Router>
        #expect(Live(environment: .test).url(at: .me).absoluteString == "http://mytestserver.com:80/me")
        let posts: [Post] = try await Test(environment: .test).value(at: .posts(for: day))
        #expect(posts == PostsResponseProvider.posts)
    }
}
