// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// A day of the calendar, without a time, such as `2026-02-28`.
public struct Day: Codable, Hashable, Sendable, Comparable, CustomStringConvertible, ParameterValue {
    /// The year.
    public let year: Int

    /// The month, from 1 to 12.
    public let month: Int

    /// The day, from 1 to 31.
    public let day: Int

    /// Makes a day; nil if the calendar does not have it.
    public init?(year: Int, month: Int, day: Int) {
        guard 0...9999 ~= year, 1...12 ~= month, day >= 1 else { return nil }
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard day <= lengths[month - 1] else { return nil }
        self.year = year
        self.month = month
        self.day = day
    }

    /// Parses a text; nil if the text is not a day.
    public init?(_ text: String) {
        let parts = text.split(separator: "-").compactMap { Int($0) }
        guard parts.count == 3, let day = Day(year: parts[0], month: parts[1], day: parts[2]), day.description == text
        else { return nil }
        self = day
    }

    /// Reads a text.
    public init(from decoder: any Decoder) throws {
        self = try decoder.parsed { Self($0) }
    }

    /// Writes the text.
    public func encode(to encoder: any Encoder) throws { try description.encode(to: encoder) }

    /// The text.
    public var description: String {
        func padded(_ number: Int, _ count: Int) -> String {
            String(repeating: "0", count: count - String(number).count) + String(number)
        }
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
    }

    /// Compares the days.
    public static func < (left: Self, right: Self) -> Bool {
        (left.year, left.month, left.day) < (right.year, right.month, right.day)
    }
}
