// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// Why a program does not start on its seed, or why a script becomes none.
public struct LaunchSeedError: Error, LocalizedError, CustomStringConvertible, Hashable {
    /// What is wrong and what to do, for a person.
    public let description: String

    /// The same.
    public var errorDescription: String? { description }

    init(_ reason: String) {
        description = "The launch seed is refused: \(reason)."
    }
}
