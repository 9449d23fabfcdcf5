// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension Duration {
    /// Longer than anyone waits, and far from where sums and numbers of milliseconds overflow.
    static let year = Duration.seconds(31_536_000)

    /// Not negative, and a year at most.
    var bounded: Duration { min(max(self, .zero), .year) }
}
