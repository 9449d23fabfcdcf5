// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

enum Environment: String, ApiEnvironment {
    case localhost
    case test = "mytestserver.com"
    case production = "myproductionserver.com"

    var scheme: HTTPScheme { self == .production ? .https : .http }
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
        case let .posts(for: date):
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

typealias TestConnection<T: ResponseProvider> = ApiConnection<TestConnector<T>>

struct PostsResponseProvider: ResponseProvider {
    func response(for request: ApiRequest) async throws -> TestConnectorResponse {
        .json([Post(title: "Hello", description: "The first one")], status: 200)
    }
}

enum ComingFromApiConnector2016 {
    static func calls() async throws {
        let subscription = Task {
            do {
                for try await posts in Connection().allPosts(for: Date()) { print(posts) }
            } catch {
                print(error)
            }
        }
        subscription.cancel()
        let posts: [Post] = try await Connection().value(at: .posts(for: Date()))
        _ = posts
        let connector = NetworkConnector<SystemProvider, Router>(environment: .test)
        for try await posts in connector.stream(of: [Post].self, at: .posts(for: Date())) { print(posts) }
    }

    @Test static func runs() async throws {
        let url = Router.me.url(for: .test)
        print(url.absoluteString)  // prints http://mytestserver.com:80/me
        for try await posts in TestConnection<PostsResponseProvider>().allPosts(for: Date()) { print(posts) }
        #expect(url.absoluteString == "http://mytestserver.com:80/me")
    }
}
