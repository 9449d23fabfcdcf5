// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

// The README's example for the app, in a module whose default isolation is the main actor.
import ApiConnector

enum Server: String, ApiEnvironment {
    case production = "blog.example.com"
    var scheme: HTTPScheme { .https }
}

struct Blog: ApiRouter {
    typealias EnvironmentType = Server
    let path: ApiPath
    static func post(_ slug: String) -> Blog { Blog(path: "/posts/\(slug)") }
}

struct Post: ApiModel { let title: String }

func title(of slug: String, over api: some ApiConnectionType<Blog>) async throws -> String {
    try await api.value(Post.self, at: .post(slug)).title
}

let live = NetworkConnector<SystemProvider, Blog>(environment: .production)
