// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// How many retries a host is asked to bear, so that clients that retry do not keep it down: a token bucket a host.
///
/// A retry takes a token. Calls and time bring tokens back, up to ``burstCount``; without one a failure is final.
public struct RetryBudget: Sendable, Hashable {
    /// The most retries in a row, and what a host starts with; 20 by default.
    public var burstCount: Int

    /// How many retries each call earns its host; 0.2, a fifth more requests, by default.
    public var share: Double

    /// How many retries each second earns a host; 1 by default.
    public var countPerSecond: Double

    /// Makes a budget.
    public init(burstCount: Int = 20, share: Double = 0.2, countPerSecond: Double = 1) {
        self.burstCount = burstCount
        self.share = share
        self.countPerSecond = countPerSecond
    }

    /// No limit but the policy's own.
    public static let unlimited = RetryBudget(burstCount: .max)
}
