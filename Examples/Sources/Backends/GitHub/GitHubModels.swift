// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import Foundation

/// A repository by its names.
package struct Repository: Sendable {
    package let owner: String
    package let name: String

    package init(owner: String, name: String) {
        self.owner = owner
        self.name = name
    }
}

/// An issue of a repository.
package struct GitHubIssue: Codable, Sendable, Equatable {
    package let number: Int
    package let title: String
    package let createdAt: Date
    package let user: Account

    package init(number: Int, title: String, createdAt: Date, user: Account) {
        self.number = number
        self.title = title
        self.createdAt = createdAt
        self.user = user
    }

    /// The user who opened the issue.
    package struct Account: Codable, Sendable, Equatable {
        package let login: String
        package let avatarUrl: URL

        package init(login: String, avatarUrl: URL) {
            self.login = login
            self.avatarUrl = avatarUrl
        }
    }
}

/// An issue to open.
package struct IssueDraft: Codable, Sendable {
    package let title: String
    package let dueOn: Date?

    package init(title: String, dueOn: Date? = nil) {
        self.title = title
        self.dueOn = dueOn
    }
}

/// A file of a release.
package struct Asset: Codable, Sendable, Equatable {
    package let id: Int
    package let name: String
    package let size: Int
    package let contentType: String

    package init(id: Int, name: String, size: Int, contentType: String) {
        self.id = id
        self.name = name
        self.size = size
        self.contentType = contentType
    }
}

/// GitHub's error for a refused request.
package struct GitHubFailure: Codable, Sendable, Equatable {
    package let message: String
    package let documentationUrl: String?
}
