// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// How an instance takes the tokens of a ``SharedLimit``, and what it does without the shared state.
public struct SharedLimitPolicy: Sendable, Hashable {
    /// How many tokens an instance takes at a time; 100 by default.
    ///
    /// A request waits for the shared state only if the instance has no token left. Tokens that an instance has taken can be
    /// used late: in any time, the instances together start at most the rate, the burst and one and a half times this number
    /// for each instance. An instance with more waiting requests than this number can hold one token for each.
    public var batchCount: Int
    /// How many instances there are at most; 10 by default.
    ///
    /// While the shared state is unavailable, each instance uses the rate divided by this number.
    public var instanceCount: Int
    /// How long ahead tokens are taken; 10 seconds by default.
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
