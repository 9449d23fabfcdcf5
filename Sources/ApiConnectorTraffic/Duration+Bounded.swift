// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension Duration {
    /// This duration, limited to between zero and one year, so that sums and numbers of milliseconds cannot overflow.
    var bounded: Duration { min(max(self, .zero), .seconds(31_536_000)) }

    /// This duration in whole milliseconds, for a text that a person reads.
    ///
    /// It is ``bounded``.
    func inMilliseconds(rounded rule: FloatingPointRoundingRule = .toNearestOrAwayFromZero) -> Duration {
        .milliseconds(Int64((bounded / .milliseconds(1)).rounded(rule)))
    }
}
