// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A user.
package struct User: Codable, Sendable, Equatable {
    package let userId: String
    package var name: String
    package var email: String
    package var description: String?

    package init(userId: String, name: String, email: String, description: String? = nil) {
        self.userId = userId
        self.name = name
        self.email = email
        self.description = description
    }
}
