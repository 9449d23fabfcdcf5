// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// When a second, hedging request is sent; see ``ApiConnector/DataRequestType/hedging(_:)``.
public struct HedgePolicy: Sendable {
    /// The percentile of recent latencies after which the second request is sent; 0.95 by default.
    ///
    /// With nil, the wait is always ``delay``.
    ///
    /// The percentile is computed from the last 128 calls of a route on a host. Until 20 calls are measured, the wait
    /// is ``delay``.
    public var percentile: Double?

    /// The wait before the second request as long as fewer than 20 calls are measured; 0.5 seconds by default.
    public var delay: Duration

    /// The shortest wait; 10 milliseconds by default.
    public var minimumDelay: Duration

    /// Limits the second requests per host; by default, 5 at once and 5 % of the calls.
    public var budget: RetryBudget

    /// The statuses of a bad response, after which the call waits for the other response;
    /// ``/ApiConnector/RetryPolicy/standardStatuses`` by default.
    ///
    /// For a request that writes, such as PUT or DELETE, 404, 409, 410 and 412 also count as bad.
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
