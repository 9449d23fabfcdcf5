// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// The reason why a recording or a launch seed cannot be read or written.
public struct FixtureError: Error, LocalizedError, CustomStringConvertible, Hashable {
    /// A text without secrets: the problem, its place and what to do.
    public let description: String

    /// The same text as ``description``.
    public var errorDescription: String? { description }

    package init(_ description: String) {
        self.description = description
    }

    /// Makes the error of a program that cannot start with its seed, or of a script that cannot become a seed.
    package init(seed reason: String) {
        description = "The launch seed is refused: \(reason)."
    }
}

/// The former name of the error of a launch seed.
@available(*, deprecated, renamed: "FixtureError")
public typealias LaunchSeedError = FixtureError

/// The former name of the error of a recording.
@available(*, deprecated, renamed: "FixtureError")
public typealias RecordingError = FixtureError
