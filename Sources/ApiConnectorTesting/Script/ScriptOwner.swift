// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// A script whose engine answers for other code, such as an adapter, and gets its issues.
protocol ScriptOwner: Sendable {
    var engine: ScriptEngine { get }

    /// The root URL of the script's environment.
    var rootURL: URL { get }

    /// The time source of the script's connections.
    var timeSource: any TimeSource { get }
}
