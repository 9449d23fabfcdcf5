// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector

/// The blog's endpoints: those of the README of 2016, and more.
package enum BlogRouter: ApiRouter {
    package typealias EnvironmentType = BlogEnvironment

    case auth(Credentials)
    case me
    case posts(for: Date)
    case post(author: String, slug: String)
    case publish(Draft)

    package var path: ApiPath {
        switch self {
        case .auth: "/auth"
        case .me: "/me"
        case .posts, .publish: "/posts"
        case .post(let author, let slug): "/authors/\(author)/posts/\(slug)"
        }
    }

    package var queryItems: [URLQueryItem]? {
        switch self {
        case .posts(let date): [URLQueryItem(name: "date", value: date.formatted(.iso8601.year().month().day()))]
        default: nil
        }
    }

    package var method: HTTPMethod {
        switch self {
        case .auth, .publish: .post
        default: .get
        }
    }

    package var body: RequestBody {
        switch self {
        case .auth(let credentials): .json(credentials)
        case .publish(let draft): .json(draft)
        default: .empty
        }
    }
}
