// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

// The README's example, in a module whose default isolation is the main actor.
import ApiConnector
import ApiConnectorTesting

enum BlogServer: String, ApiEnvironment {
    case localhost
    case production = "blog.example.com"

    var scheme: HTTPScheme { self == .localhost ? .http : .https }
}

enum BlogRouter: ApiRouter {
    typealias EnvironmentType = BlogServer
    case me
    case post(author: String, slug: String)

    var path: ApiPath {
        switch self {
        case .me: "/me"
        case .post(let author, let slug): "/authors/\(author)/posts/\(slug)"
        }
    }
}

struct Post: ApiModel {
    let title: String
}

typealias BlogConnection<Provider: DataRequestType> = NetworkConnector<Provider, BlogRouter>

func title(of slug: String, over api: BlogConnection<some DataRequestType>) async throws -> String {
    try await api.value(Post.self, at: .post(author: "ted", slug: slug)).title
}

let live = BlogConnection(environment: .production, provider: SystemProvider())
let canned = BlogConnection(environment: .localhost, provider: TestConnector { _ in .json(Post(title: "Tea / Café")) })
