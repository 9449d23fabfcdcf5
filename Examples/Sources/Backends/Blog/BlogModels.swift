// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector

/// The name and password for signing in.
package struct Credentials: Codable, Sendable, Equatable {
    package let name: String
    package let password: String

    package init(name: String, password: String) {
        self.name = name
        self.password = password
    }
}

/// The response to correct credentials.
package struct Session: Codable, Sendable {
    package let token: String

    package init(token: String) {
        self.token = token
    }
}

/// An author.
package struct Author: Codable, Sendable, Equatable {
    package let name: String
    package let email: String

    package init(name: String, email: String) {
        self.name = name
        self.email = email
    }
}

/// A published post.
package struct Post: Codable, Sendable, Equatable {
    package let author: String
    package let slug: String
    package let title: String
    package let description: String
    package let publishedAt: Date

    package init(author: String, slug: String, title: String, description: String, publishedAt: Date) {
        self.author = author
        self.slug = slug
        self.title = title
        self.description = description
        self.publishedAt = publishedAt
    }
}

/// A post to publish.
///
/// The server adds the author and the slug.
package struct Draft: Codable, Sendable, Equatable {
    package let title: String
    package let description: String
    package let publishedAt: Date

    package init(title: String, description: String, publishedAt: Date) {
        self.title = title
        self.description = description
        self.publishedAt = publishedAt
    }
}
