// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnectorTesting

/// The reason why an adapter refuses a script: each declaration that the adapter cannot express, with its line.
public struct UnsupportedScriptError: Error, CustomStringConvertible {
    /// The declarations that the adapter cannot express, in order of declaration; at least one, each of kind
    /// `.refused`.
    public let items: [TestIssue]

    /// All items, one per line.
    public var description: String { items.map(\.description).joined(separator: "\n") }
}
