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
    /// An instance takes 1 token at first, then 2, 4 and so on, while it asks more than once per second. With the
    /// default, an instance that sends more than 100 requests per second asks at most once per 100 requests after its
    /// first 1,000 requests. A slower instance asks about once per second.
    public var batchCount: Int
    /// The largest number of instances; 10 by default.
    ///
    /// While the shared state is unavailable, each instance uses the rate and the concurrency limit divided by this
    /// number. The concurrency limit is then at least 1.
    public var instanceCount: Int
    /// How far in advance an instance takes tokens; 10 seconds by default.
    public var horizon: Duration
    /// The longest time for one operation of the shared state; a quarter of a second by default.
    public var operationLimit: Duration
    /// The time after which an instance that sends requests asks the shared state again; 2 seconds by default, at least
    /// 10 milliseconds.
    ///
    /// - A pause, such as a server's `Retry-After`, reaches each instance within this time.
    /// - An instance renews its places of a concurrency limit after this time. They expire after 5 times this time.
    /// - Instances that compete for places ask 20 times as often.
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
