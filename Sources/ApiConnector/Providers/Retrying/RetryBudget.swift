// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Limits the retries per host with a token bucket, so that retries do not keep an overloaded host down.
///
/// A retry takes a token. Calls and time add tokens, up to ``burstCount``. Without a token, there is no retry.
public struct RetryBudget: Sendable, Hashable {
    /// The initial and maximum number of tokens, which is the maximum number of retries in a row; 20 by default.
    public var burstCount: Int

    /// The number of retries that each call earns for its host; 0.2 by default, which allows a fifth more requests.
    public var share: Double

    /// The number of retries that a host earns per second; 1 by default.
    public var countPerSecond: Double

    /// Makes a budget.
    public init(burstCount: Int = 20, share: Double = 0.2, countPerSecond: Double = 1) {
        self.burstCount = burstCount
        self.share = share
        self.countPerSecond = countPerSecond
    }

    /// No limit except that of the policy.
    public static let unlimited = RetryBudget(burstCount: .max)
}
