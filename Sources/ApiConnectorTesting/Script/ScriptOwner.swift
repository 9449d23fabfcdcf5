// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector

/// A script whose engine answers requests for other code, such as an adapter, and records the issues of that code.
package protocol ScriptOwner: Sendable {
    var engine: ScriptEngine { get }

    /// The root URL of the script's environment.
    var rootURL: URL { get }

    /// The time source of the script's connections.
    var timeSource: any TimeSource { get }
}

extension ApiEnvironment {
    /// The root URL of the environment's routes: scheme, host, port and base path.
    var rootURL: URL { RootRoute().url(for: self) }
}

private struct RootRoute<EnvironmentType: ApiEnvironment>: ApiRouter {
    var path: String { "/" }
}
