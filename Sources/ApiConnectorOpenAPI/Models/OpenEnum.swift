// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A set of values that may grow: values that the document does not list are kept.
public nonisolated protocol OpenEnum: RawRepresentable, Codable, Hashable, Sendable, ParameterValue
where RawValue: CustomStringConvertible & Sendable {
    /// Makes a value; the document need not list it.
    init(rawValue: RawValue)
}

extension OpenEnum {
    /// Makes a value; the document need not list it.
    public init(_ rawValue: RawValue) {
        self.init(rawValue: rawValue)
    }

    /// The raw value.
    public var parameterText: ParameterText { .text(rawValue.description) }
}
