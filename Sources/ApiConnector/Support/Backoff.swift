// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// How long to wait before something is tried again.
enum Backoff {
    /// What the other side asks for, and on top a random part of a time that doubles ("full jitter"), so that a server
    /// that comes back is not asked by all of its clients at once.
    ///
    /// - Parameters:
    ///   - number: Which wait it is, counted from 1.
    ///   - initial: What the random part is at most the first time.
    ///   - maximum: What the doubling stops at.
    ///   - asked: The least wait; nil for none.
    ///   - random: From 0 to 1, and not 1.
    static func delay(
        _ number: Int,
        initial: Duration,
        maximum: Duration,
        asked: Duration?,
        random: Double
    ) -> Duration {
        var longest = min(initial, maximum)
        var left = number - 1
        // Never past what a Duration can hold, whatever the policy says.
        while left > 0, longest > .zero, longest < maximum {
            longest = longest < maximum / 2 ? longest * 2 : maximum
            left -= 1
        }
        return (asked ?? .zero) + longest * random
    }
}
