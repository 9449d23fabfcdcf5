// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Why an adapter does not take a script: what it cannot express, each with the line where that was declared.
public struct UnsupportedScriptError: Error, CustomStringConvertible {
    /// What the adapter cannot express, in the order in which it was declared; at least one, of kind `.refused`.
    public let items: [TestIssue]

    /// All of it, a line each.
    public var description: String { items.map(\.description).joined(separator: "\n") }
}
