// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The priority of a call among the calls that wait for the same limit; see `limiting(_:by:)` in ApiConnectorTraffic.
public enum CallPriority: Int, Sendable, Hashable, Comparable, CaseIterable {
    /// For work that no user waits for, such as a prefetch.
    case low
    /// The default.
    case normal
    /// For work that a user waits for.
    case high

    /// Compares priorities in the order of their declaration.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
