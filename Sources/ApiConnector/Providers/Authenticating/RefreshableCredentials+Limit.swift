// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension RefreshableCredentials {
    /// Limits the number of refreshes, so that a server that refuses every credential does not cause endless refreshes.
    public struct Limit: Sendable, Hashable {
        /// The maximum number of refreshes that may start within ``duration``.
        public var count: Int

        /// The length of the sliding window.
        public var duration: Duration

        /// Makes a limit; 5 within 30 seconds by default.
        public init(_ count: Int = 5, within duration: Duration = .seconds(30)) {
            self.count = count
            self.duration = duration
        }
    }
}
