// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The durations of a ``SharedSession``, and what happens without its state.
public struct SharedSessionPolicy: Sendable, Hashable {
    /// How long a process has a lease without renewing it; 15 seconds by default.
    ///
    /// It is renewed after a third of this time.
    public var leaseDuration: Duration
    /// The longest time for one operation of the shared state; 2 seconds by default.
    public var operationLimit: Duration
    /// The first wait before the state of another process's refresh is read again; 50 milliseconds by default.
    ///
    /// Each wait is twice as long as the one before.
    public var firstPollInterval: Duration
    /// The longest wait before it is read again; 1 second by default.
    public var longestPollInterval: Duration
    /// Whether a process refreshes by itself if the shared state is unavailable; false by default, which fails the refresh.
    ///
    /// Processes that refresh at the same time may use a refresh token twice.
    public var refreshesWithoutState: Bool

    /// Makes a policy.
    public init(
        leaseDuration: Duration = .seconds(15),
        operationLimit: Duration = .seconds(2),
        firstPollInterval: Duration = .milliseconds(50),
        longestPollInterval: Duration = .seconds(1),
        refreshesWithoutState: Bool = false
    ) {
        self.leaseDuration = leaseDuration
        self.operationLimit = operationLimit
        self.firstPollInterval = firstPollInterval
        self.longestPollInterval = longestPollInterval
        self.refreshesWithoutState = refreshesWithoutState
    }
}
