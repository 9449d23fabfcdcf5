// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// How an instance takes the tokens of a ``SharedLimit``, and what it does without the shared state.
public struct SharedLimitPolicy: Sendable, Hashable {
    /// The most tokens that an instance takes at a time; 100 by default.
    ///
    /// A request waits for the shared state only if the instance has no token left. An instance may use tokens long
    /// after it has taken them. So within any duration, the instances together may exceed the rate and the burst, by up
    /// to one and a half times `batchCount` for each instance. An instance with more waiting requests than `batchCount`
    /// may hold one token for each of them.
    public var batchCount: Int
    /// The largest number of instances; 10 by default.
    ///
    /// While the shared state is unavailable, each instance uses the rate divided by this number.
    public var instanceCount: Int
    /// How far in advance an instance takes tokens; 10 seconds by default.
    public var horizon: Duration
    /// The longest time for one operation of the shared state; a quarter of a second by default.
    public var operationLimit: Duration

    /// Makes a policy.
    public init(
        batchCount: Int = 100,
        instanceCount: Int = 10,
        horizon: Duration = .seconds(10),
        operationLimit: Duration = .milliseconds(250)
    ) {
        self.batchCount = max(batchCount, 1)
        self.instanceCount = max(instanceCount, 1)
        self.horizon = horizon
        self.operationLimit = operationLimit
    }
}
