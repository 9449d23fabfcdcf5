// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// How an instance takes its part of a ``SharedLimit``, and what it does without the shared state.
public struct SharedLimitPolicy: Sendable, Hashable {
    /// The most tokens that an instance takes at a time; 200 by default.
    ///
    /// A request waits for the shared state only if the instance has no token left. An instance may use tokens long
    /// after it has taken them. So within any duration, the instances together may exceed the rate and the burst, by up
    /// to one and a half times `batchCount` for each instance. An instance with more waiting requests than `batchCount`
    /// may hold one token for each of them.
    ///
    /// An instance first takes 1 token, then 2, 4 and so on. So with 200, it asks less than once per 100 requests after
    /// the first 1,000.
    public var batchCount: Int
    /// The largest number of instances; 10 by default.
    ///
    /// While the shared state is unavailable, each instance uses the rate and the concurrency limit divided by this number,
    /// and at least 1 concurrent request.
    public var instanceCount: Int
    /// How far in advance an instance takes tokens; 10 seconds by default.
    public var horizon: Duration
    /// The longest time for one operation of the shared state; a quarter of a second by default.
    public var operationLimit: Duration
    /// How old an instance's knowledge of the shared state gets while it sends requests; 2 seconds by default, at least 10
    /// milliseconds.
    ///
    /// A hold, such as a server's `Retry-After`, reaches each instance within this time. Places of a concurrency limit are
    /// renewed after this time, and expire after 5 times as long. While instances compete for places, they ask 20 times as
    /// often.
    public var refreshInterval: Duration

    /// Makes a policy.
    public init(
        batchCount: Int = 200,
        instanceCount: Int = 10,
        horizon: Duration = .seconds(10),
        operationLimit: Duration = .milliseconds(250),
        refreshInterval: Duration = .seconds(2)
    ) {
        self.batchCount = max(batchCount, 1)
        self.instanceCount = max(instanceCount, 1)
        self.horizon = horizon
        self.operationLimit = operationLimit
        self.refreshInterval = max(refreshInterval, .milliseconds(10)).bounded
    }
}
