// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

enum Server: String, ApiEnvironment {
    case localhost
    case production = "blog.example.com"

    var scheme: HTTPScheme { self == .localhost ? .http : .https }
}

enum Blog: ApiRouter {
    typealias EnvironmentType = Server
    case me
    case articles(for: Date)
    case article(author: String, slug: String)
    case publish(Draft)

    var path: ApiPath {
        switch self {
        case .me: "/me"
        case .articles, .publish: "/articles"
        case .article(let author, let slug): "/authors/\(author)/articles/\(slug)"
        }
    }

    var queryItems: ApiQuery {
        switch self {
        case .articles(let day): ["date": day.formatted(.iso8601.year().month().day())]
        default: .empty
        }
    }

    var method: HTTPMethod {
        if case .publish = self { .post } else { .get }
    }

    var body: RequestBody {
        if case .publish(let draft) = self { .json(draft) } else { .empty }
    }
}

struct User: ApiModel {
    let name: String
}

struct Article: ApiModel, Equatable {
    let title: String
}

struct Draft: ApiModel {
    let title: String
}

func gettingStarted(draft: Draft) async throws {
    let api = NetworkConnector<SystemProvider, Blog>(environment: .production)
    let me = try await api.value(User.self, at: .me)
    let articles: [Article] = try await api.value(at: .articles(for: .now))
    let hello = try await api.value(Article?.self, at: .article(author: "ted", slug: "hello"))
    _ = (me, articles, hello)
    try await api.send(at: .publish(draft))
    let answer = try await api.response(of: Article.self, at: .publish(draft))
    print(answer.status, answer.value.title, answer.headers[.location] ?? "nowhere")
    let patient = CallOptions(headers: ["X-Reason": "test"], timeouts: Timeouts(overall: .seconds(5)))
    let sameMe = try await api.value(User.self, at: .me, options: patient)
    _ = sameMe
    let handle = api.value([Article].self, at: .articles(for: .now)) { result in
        switch result {
        case .success(let articles): print(articles)
        case .failure(let error): print(error)
        }
    }
    handle.cancel()
    api.start(on: .main) {
        try await $0.string(at: .me)
    } completion: { result in
        print((try? result.get()) ?? "no response")
    }
    let today = try await api.value(.articles(for: .now))
    _ = today
}

extension ApiCall where Router == Blog, Value == [Article] {
    static func articles(for day: Date) -> Self { Self(.articles(for: day)) }
}

struct BlogConnection<Provider: DataRequestType>: ApiConnectionType {
    typealias RouterType = Blog

    let environment: Server
    let provider: Provider
    let configuration = ConnectionConfiguration(json: JSONCoding(dates: .iso8601, keys: .snakeCase))

    func articles(for day: Date) async throws(ApiConnectorError) -> [Article] {
        try await value(at: .articles(for: day))
    }
}

@Test func asksForTheDaysArticles() async throws {
    let blog = BlogConnection(
        environment: .production,
        provider: TestConnector { request in
            #expect(request.url.absoluteString == "https://blog.example.com:443/articles?date=2016-11-21")
            return .json([Article(title: "Hello")])
        }
    )

    let articles = try await blog.articles(for: Date(timeIntervalSince1970: 1_479_686_400))

    #expect(articles == [Article(title: "Hello")])
}
