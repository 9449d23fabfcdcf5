// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector

/// Comments as server-sent events.
package enum FeedRouter: ApiRouter {
    package typealias EnvironmentType = BackendEnvironment

    /// The stream of comments. The demo sets the time between two comments.
    case comments(millisecondsApart: Int)

    package var path: ApiPath { "/comments" }

    package var queryItems: ApiQuery {
        switch self {
        case .comments(let gap): ["gap": "\(gap)"]
        }
    }
}

/// The data of an event.
package struct Comment: ApiModel, Equatable {
    package let author: String
    package let text: String

    package init(author: String, text: String) {
        self.author = author
        self.text = text
    }
}

extension BackendEnvironment {
    /// The feed of comments.
    package static func feed(on location: ServerLocation) -> Self { Self(location: location, name: "feed") }
}
