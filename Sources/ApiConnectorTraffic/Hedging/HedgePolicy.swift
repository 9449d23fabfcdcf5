// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// When a request is sent a second time beside the first; see ``ApiConnector/DataRequestType/hedging(_:)``.
public struct HedgePolicy: Sendable {
    /// Which part of the calls before has to be quicker than the wait for the second; 0.95 by default, nil always waits
    /// for ``delay``.
    ///
    /// Of the last 128 calls of one route on one host, as soon as there are 20.
    public var percentile: Double?

    /// How long to wait for the second as long as nothing is known; half a second by default.
    public var delay: Duration

    /// The shortest wait; 10 milliseconds by default.
    public var minimumDelay: Duration

    /// How many second requests each host is asked to bear: 5 at once and a twentieth of the calls by default.
    public var budget: RetryBudget

    /// The statuses that the other answer is waited for; ``/ApiConnector/RetryPolicy/standardStatuses`` by default.
    public var statuses: Set<HTTPStatus>

    /// Makes a policy.
    public init(
        percentile: Double? = 0.95,
        delay: Duration = .milliseconds(500),
        minimumDelay: Duration = .milliseconds(10),
        budget: RetryBudget = RetryBudget(burstCount: 5, share: 0.05, countPerSecond: 0),
        statuses: Set<HTTPStatus> = RetryPolicy.standardStatuses
    ) {
        self.percentile = percentile
        self.delay = delay
        self.minimumDelay = minimumDelay
        self.budget = budget
        self.statuses = statuses
    }

    /// The defaults.
    public static let standard = HedgePolicy()
}
