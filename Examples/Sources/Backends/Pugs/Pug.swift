// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A pug in the list.
package struct Pug: Codable, Sendable, Equatable {
    package let pugId: String
    package let name: String
    package let photo: String

    package init(pugId: String, name: String, photo: String) {
        self.pugId = pugId
        self.name = name
        self.photo = photo
    }
}

/// The details of one pug.
package struct PugInfo: Codable, Sendable, Equatable {
    package let pugId: String
    package let name: String
    package let photo: String
    package let about: String
}
