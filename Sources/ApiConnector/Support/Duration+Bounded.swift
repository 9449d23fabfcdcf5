// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension Duration {
    /// Longer than anyone waits, and far from where sums and numbers of milliseconds overflow.
    static let year = Duration.seconds(31_536_000)

    /// Not negative, and a year at most.
    var bounded: Duration { min(max(self, .zero), .year) }

    /// Whole milliseconds, for a text that a person reads; bounded.
    func inMilliseconds(rounded rule: FloatingPointRoundingRule = .toNearestOrAwayFromZero) -> Duration {
        .milliseconds(Int64((bounded / .milliseconds(1)).rounded(rule)))
    }
}
