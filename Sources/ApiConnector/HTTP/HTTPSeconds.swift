// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A number of seconds in a header field (RFC 9111, section 1.2.2).
enum HTTPSeconds {
    /// The maximum, 2^31, which replaces larger numbers.
    static let greatest: Int64 = 1 << 31

    /// Parses a number; nil if the text is empty or contains anything but digits.
    static func seconds(_ text: String) -> Int64? {
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        guard !text.isEmpty, text.utf8.allSatisfy(digits.contains) else { return nil }
        return min(Int64(text) ?? .max, greatest)
    }
}
