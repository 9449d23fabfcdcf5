// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// A decimal number that is a string in JSON.
public struct DecimalText: Codable, Hashable, Sendable, CustomStringConvertible, ParameterValue {
    /// The number.
    public var value: Decimal

    /// Wraps a number.
    public init(_ value: Decimal) {
        self.value = value
    }

    /// Parses a text; nil if the text is not a number.
    public init?(_ text: String) {
        // `Decimal(string:)` ignores the rest of a text that only starts with a number.
        guard text.wholeMatch(of: #/[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?/#) != nil,
            let value = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX"))
        else { return nil }
        self.value = value
    }

    /// Reads a text, or a number from a backend that writes one.
    public init(from decoder: any Decoder) throws {
        if let number = try? decoder.singleValueContainer().decode(Decimal.self) {
            self.init(number)
        } else {
            self = try decoder.parsed { Self($0) }
        }
    }

    /// Writes the text.
    public func encode(to encoder: any Encoder) throws { try description.encode(to: encoder) }

    /// The text.
    public var description: String { value.description }
}
