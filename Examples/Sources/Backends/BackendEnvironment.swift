// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector

/// The environments of backends that exist only on the demo's server.
///
/// The base path of each backend is its name.
package struct BackendEnvironment: ApiEnvironment {
    package let location: ServerLocation
    package let name: String

    package var host: String { location.host }
    package var scheme: HTTPScheme { location.scheme }
    package var port: Int? { location.port }
    package var basePath: String { "\(location.basePath)/\(name)" }

    package init(location: ServerLocation, name: String) {
        self.location = location
        self.name = name
    }

    /// The users with their envelope.
    package static func users(on location: ServerLocation) -> Self { Self(location: location, name: "users") }

    /// The pugs.
    package static func pugs(on location: ServerLocation) -> Self { Self(location: location, name: "pugs") }

    /// The orders with their JSON:API errors.
    package static func orders(on location: ServerLocation) -> Self { Self(location: location, name: "orders") }

    /// The exports.
    package static func exports(on location: ServerLocation) -> Self { Self(location: location, name: "exports") }

    /// The orders on a port without a server: port 1 of this machine.
    package static let nowhere = Self(location: ServerLocation(host: "127.0.0.1", port: 1), name: "orders")
}
