// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import FlyingFox
import Foundation
import Synchronization

/// The blog of the README of 2016: sign in, read posts, publish one.
final class BlogBackend: Backend {
    private struct Credentials: Decodable {
        let name: String
        let password: String
    }

    private struct Draft: Decodable {
        let title: String
        let description: String
        let publishedAt: Date
    }

    private struct Post: Encodable {
        let author: String
        let slug: String
        let title: String
        let description: String
        let publishedAt: Date
    }

    private static let token = "a-token-for-ted"

    private let posts = Mutex([
        Post(
            author: "ted",
            slug: "hello",
            title: "Hello",
            description: "The first one",
            publishedAt: Date(timeIntervalSince1970: 1_479_719_700)
        ),
        Post(
            author: "ted",
            slug: "tea / café",
            title: "Tea / Café",
            description: "Where to drink what",
            publishedAt: Date(timeIntervalSince1970: 1_479_747_600)
        ),
        Post(
            author: "ted",
            slug: "later",
            title: "Later",
            description: "The day after",
            publishedAt: Date(timeIntervalSince1970: 1_479_801_600)
        ),
    ])

    func answer(_ call: Call) async throws -> HTTPResponse {
        switch (call.method, Array(call.path)) {
        case ("POST", ["auth"]):
            let credentials = try call.json(Credentials.self)
            guard credentials.name == "ted", credentials.password == "pug" else {
                return .message("Name or password is wrong.", .unauthorized)
            }
            return try .json(["token": Self.token])
        case ("GET", ["me"]):
            guard isSignedIn(call) else { return .message("Sign in first.", .unauthorized) }
            return try .json(["name": "ted", "email": "ted@example.com"])
        case ("GET", ["posts"]):
            return try .json(posts(on: call.query["date"]))
        case ("POST", ["posts"]):
            guard isSignedIn(call) else { return .message("Sign in first.", .unauthorized) }
            let post = publish(try call.json(Draft.self))
            return try .json(post, .created, headers: [.location: "/blog/authors/\(post.author)/posts/\(post.slug)"])
        case ("GET", let path) where path.count == 4 && path[0] == "authors" && path[2] == "posts":
            guard let post = post(by: path[1], slug: path[3]) else {
                return .message("There is no post “\(path[3])” by \(path[1]).", .notFound)
            }
            return try .json(post)
        default:
            return .message("The blog has no such page.", .notFound)
        }
    }

    private func isSignedIn(_ call: Call) -> Bool {
        call.authorization == "Bearer \(Self.token)"
    }

    private func posts(on day: String?) -> [Post] {
        posts.withLock { posts in
            posts.filter { day == nil || $0.publishedAt.formatted(.iso8601.year().month().day()) == day }
        }
    }

    private func post(by author: String, slug: String) -> Post? {
        posts.withLock { posts in posts.first { $0.author == author && $0.slug == slug } }
    }

    /// Stores a post.
    ///
    /// It replaces a post with the same slug.
    private func publish(_ draft: Draft) -> Post {
        let post = Post(
            author: "ted",
            slug: draft.title.lowercased().split { !$0.isASCII || !$0.isLetter }.joined(separator: "-"),
            title: draft.title,
            description: draft.description,
            publishedAt: draft.publishedAt
        )
        posts.withLock { posts in
            posts.removeAll { $0.author == post.author && $0.slug == post.slug }
            posts.append(post)
        }
        return post
    }
}
