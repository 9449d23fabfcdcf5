// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The durations of a ``SharedSession``, and what happens while the shared state is unavailable.
public struct SharedSessionPolicy: Sendable, Hashable {
    /// How long a lease lasts if it is not renewed; 15 seconds by default.
    ///
    /// A process that is refreshing renews its lease each time that a third of this time has passed, up to the time
    /// limit of its refresh.
    public var leaseDuration: Duration
    /// The longest time for one operation of the shared state; 2 seconds by default.
    public var operationLimit: Duration
    /// While another process refreshes, the first wait before the shared state is read again; 50 milliseconds by
    /// default.
    ///
    /// Each wait is twice as long as the one before, up to ``longestPollInterval``.
    public var firstPollInterval: Duration
    /// The longest wait before the shared state is read again; 1 second by default.
    public var longestPollInterval: Duration
    /// Whether a process refreshes without a lease if the shared state is unavailable.
    ///
    /// False by default: the refresh fails.
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
