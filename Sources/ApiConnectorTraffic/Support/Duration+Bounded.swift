// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension Duration {
    /// Not negative, and at most a year: far from where sums and numbers of milliseconds overflow.
    var bounded: Duration { min(max(self, .zero), .seconds(31_536_000)) }

    /// Whole milliseconds, for a text that a person reads; bounded.
    func inMilliseconds(rounded rule: FloatingPointRoundingRule = .toNearestOrAwayFromZero) -> Duration {
        .milliseconds(Int64((bounded / .milliseconds(1)).rounded(rule)))
    }
}
