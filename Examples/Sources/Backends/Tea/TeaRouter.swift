// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector

/// A tea shop with faults: slow, busy, moved, missing and lost responses.
package enum TeaRouter: ApiRouter {
    package typealias EnvironmentType = BackendEnvironment

    case menu
    /// The server sends the first byte after this time.
    case slow(milliseconds: Int)
    /// Two of three requests get a 503.
    case busy
    /// The server redirects to the new menu.
    case old
    case missing
    /// The server closes the connection in the middle of the body.
    case lost

    package var path: ApiPath {
        switch self {
        case .menu: "/menu"
        case .slow: "/slow"
        case .busy: "/busy"
        case .old: "/old"
        case .missing: "/missing"
        case .lost: "/lost"
        }
    }

    package var queryItems: ApiQuery {
        switch self {
        case .slow(let milliseconds): ["wait": "\(milliseconds)"]
        default: []
        }
    }
}

extension BackendEnvironment {
    /// The tea shop.
    package static func tea(on location: ServerLocation) -> Self { Self(location: location, name: "tea") }
}
