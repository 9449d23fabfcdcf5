// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The wait before a retry.
enum Backoff {
    /// The wait that the server requests plus a random part of a delay that doubles ("full jitter").
    ///
    /// The random part prevents all clients of a recovering server from retrying at the same moment.
    ///
    /// - Parameters:
    ///   - number: The number of the wait, counted from 1.
    ///   - initial: The upper limit of the first random part.
    ///   - maximum: The maximum to which the limit doubles.
    ///   - asked: The minimum wait; nil for none.
    ///   - random: A number from 0 up to but not including 1.
    static func delay(
        _ number: Int,
        initial: Duration,
        maximum: Duration,
        asked: Duration?,
        random: Double
    ) -> Duration {
        var longest = min(initial, maximum)
        var left = number - 1
        // Never exceeds the range of Duration, with any policy.
        while left > 0, longest > .zero, longest < maximum {
            longest = longest < maximum / 2 ? longest * 2 : maximum
            left -= 1
        }
        return (asked ?? .zero) + longest * random
    }
}
