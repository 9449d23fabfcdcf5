// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Who goes first where calls have to wait for each other; see `limiting(_:by:)` of ApiConnectorTraffic.
public enum CallPriority: Int, Sendable, Hashable, Comparable, CaseIterable {
    /// What nobody waits for, such as a prefetch.
    case low
    /// The default.
    case normal
    /// What a person waits for.
    case high

    /// The order in which they are declared.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
