// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// The reason why a program cannot start with its seed, or why a script cannot become a seed.
public struct LaunchSeedError: Error, LocalizedError, CustomStringConvertible, Hashable {
    /// The problem and its solution, for a person.
    public let description: String

    /// The same text as ``description``.
    public var errorDescription: String? { description }

    init(_ reason: String) {
        description = "The launch seed is refused: \(reason)."
    }
}
