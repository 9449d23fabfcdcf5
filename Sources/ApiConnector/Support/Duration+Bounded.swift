// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension Duration {
    /// Longer than any useful wait, and far below the point where sums and milliseconds overflow.
    static let year = Duration.seconds(31_536_000)

    /// The duration, but at least zero and at most a year.
    var bounded: Duration { min(max(self, .zero), .year) }

    /// Bounded whole milliseconds, for a text that a person reads.
    func inMilliseconds(rounded rule: FloatingPointRoundingRule = .toNearestOrAwayFromZero) -> Duration {
        .milliseconds(Int64((bounded / .milliseconds(1)).rounded(rule)))
    }
}
