// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// How long a server wants a client to wait (RFC 9110, section 10.2.3): in seconds, or until a date.
enum RetryAfter {
    /// The wait from now on; zero for a date that has passed, nil where the field is missing or cannot be read.
    static func wait(_ headers: HTTPHeaders, now: Date) -> Duration? {
        guard let text = headers[.retryAfter]?.trimmingCharacters(in: .whitespaces), !text.isEmpty else { return nil }
        if let seconds = HTTPSeconds.seconds(text) { return .seconds(seconds) }
        guard let date = HTTPDate.date(text, now: now) else { return nil }
        return .seconds(max(date.timeIntervalSince(now), 0))
    }
}
