// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Why a carrier does not take a script: what it cannot express, each with the line where that was declared.
public struct CarrierRefusal: Error, CustomStringConvertible {
    /// What the carrier cannot express, in the order in which it was declared; at least one, of kind `.refused`.
    public let items: [Verdict]

    /// All of it, a line each.
    public var description: String { items.map(\.description).joined(separator: "\n") }
}
