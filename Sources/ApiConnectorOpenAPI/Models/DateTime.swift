// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// A point in time in the format of RFC 3339, with or without a fraction of a second.
public struct DateTime: Codable, Hashable, Sendable, Comparable, CustomStringConvertible, ParameterValue {
    private static let decoder = JSONCoding(dates: .iso8601).makeDecoder()

    /// The date.
    public var date: Date

    /// Wraps a date.
    public init(_ date: Date) {
        self.date = date
    }

    /// Parses a text; nil if the text is not a date of RFC 3339.
    public init?(_ text: String) {
        // A text of visible characters without a backslash is the same in JSON.
        guard text.utf8.allSatisfy({ 0x20...0x7E ~= $0 && $0 != 0x5C }),
            let date = try? Self.decoder.decode(Date.self, from: Data("\"\(text)\"".utf8))
        else { return nil }
        self.date = date
    }

    /// Reads a text.
    public init(from decoder: any Decoder) throws {
        self = try decoder.parsed { Self($0) }
    }

    /// Writes the text.
    public func encode(to encoder: any Encoder) throws { try description.encode(to: encoder) }

    /// The text in UTC, rounded to microseconds, with no, three or six digits after the second.
    public var description: String {
        // The double for a time is often slightly too small, so the digits are not those of a truncation.
        let exact = (date.timeIntervalSince1970 * 1_000_000).rounded()
        guard let microseconds = Int64(exactly: exact) else { return date.formatted(.iso8601) }
        let fraction = (microseconds % 1_000_000 + 1_000_000) % 1_000_000
        let seconds = Double((microseconds - fraction) / 1_000_000)
        var text = Date(timeIntervalSince1970: seconds).formatted(.iso8601)
        if -62_167_219_200.0 ..< -12_219_292_800.0 ~= seconds {
            // Foundation writes dates before 1582 in the Julian calendar. The Gregorian calendar repeats itself after
            // 400 years, so the text is that of a date 1,600 years later, with another year.
            text = Date(timeIntervalSince1970: seconds + 50_491_123_200).formatted(.iso8601)
            let year = 10_000 + (Int(text.prefix(4)) ?? 0) - 1_600
            text = "\(String(year).dropFirst())\(text.dropFirst(4))"
        }
        guard fraction > 0 else { return text }
        let digits = String(1_000_000 + fraction).dropFirst()
        return "\(text.dropLast()).\(digits.hasSuffix("000") ? digits.dropLast(3) : digits)Z"
    }

    /// Compares the dates.
    public static func < (left: Self, right: Self) -> Bool { left.date < right.date }
}

extension Decoder {
    /// Reads a text and parses it.
    ///
    /// - Throws: `DecodingError.dataCorrupted` if `parse` returns nil.
    func parsed<Value>(_ parse: (String) -> Value?) throws -> Value {
        let container = try singleValueContainer()
        let text = try container.decode(String.self)
        guard let value = parse(text) else {
            let problem = "\(text) is not a \(Value.self)"
            throw DecodingError.dataCorruptedError(in: container, debugDescription: problem)
        }
        return value
    }
}
