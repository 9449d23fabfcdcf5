// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A value in a query literal: strings, numbers, Booleans, dates and UUIDs, and your own types.
public protocol ApiQueryValue {
    /// The text of the value, not encoded; the description by default.
    var queryText: String { get }
}

extension ApiQueryValue where Self: CustomStringConvertible {
    /// The description.
    public var queryText: String { description }
}
