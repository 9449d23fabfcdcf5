// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension HTTPHeaders {
    /// The date in the first field of a name, in one of the three forms of RFC 9110, section 5.6.7.
    ///
    /// - Parameters:
    ///   - name: The name of the field.
    ///   - now: Decides the century of a two-digit year: the date is at most 50 years after `now`.
    /// - Returns: The date; nil if there is no such field, or if its value is not a date.
    public func date(_ name: Name, now: Date) -> Date? {
        self[name].flatMap { HTTPDate.date($0, now: now) }
    }

    /// How long the server asks the client to wait, by `Retry-After` (RFC 9110, section 10.2.3).
    ///
    /// - Parameter now: The current date.
    /// - Returns: The wait; zero for a date that has passed, nil if the field is missing or cannot be read.
    public func retryAfter(now: Date) -> Duration? {
        guard let text = self[.retryAfter]?.trimmingCharacters(in: .whitespaces), !text.isEmpty else { return nil }
        if let seconds = HTTPSeconds.seconds(text) { return .seconds(seconds) }
        guard let date = HTTPDate.date(text, now: now) else { return nil }
        return .seconds(Swift.max(date.timeIntervalSince(now), 0))
    }
}
