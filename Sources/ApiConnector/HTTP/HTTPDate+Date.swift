// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension HTTPDate {
    /// Parses a date; nil for a text that is not a date.
    ///
    /// - Parameter now: Decides the century of a two-digit year: the date is at most 50 years after `now`.
    static func date(_ text: String, now: Date) -> Date? {
        let now = Int64(exactly: now.timeIntervalSince1970.rounded(.down)) ?? 0
        return seconds(text, now: now).map { Date(timeIntervalSince1970: Double($0)) }
    }
}
