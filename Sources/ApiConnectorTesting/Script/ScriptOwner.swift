// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// A script whose engine answers requests for other code, such as an adapter, and records the issues of that code.
protocol ScriptOwner: Sendable {
    var engine: ScriptEngine { get }

    /// The root URL of the script's environment.
    var rootURL: URL { get }

    /// The time source of the script's connections.
    var timeSource: any TimeSource { get }
}
