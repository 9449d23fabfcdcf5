// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// How many refreshes there may be, so that a server that refuses every credential is not asked for ever.
public struct RefreshLimit: Sendable, Hashable {
    /// How many may start within the duration.
    public var count: Int

    /// The length of the window, which moves with the time.
    public var duration: Duration

    /// Makes a limit; 5 within 30 seconds by default.
    public init(_ count: Int = 5, within duration: Duration = .seconds(30)) {
        self.count = count
        self.duration = duration
    }
}
