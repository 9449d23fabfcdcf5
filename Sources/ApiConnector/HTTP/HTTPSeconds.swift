// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A number of seconds in a field (RFC 9111, section 1.2.2).
enum HTTPSeconds {
    /// Nil for anything but digits; one that is too great is 2^31, as the section says.
    static func seconds(_ text: String) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy(ByteSet.decimalDigits.contains) else { return nil }
        return min(Int(text) ?? .max, 1 << 31)
    }
}
