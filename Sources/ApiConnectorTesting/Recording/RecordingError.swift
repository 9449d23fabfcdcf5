// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// An error when a recording is read or saved.
public struct RecordingError: Error, Sendable, CustomStringConvertible, LocalizedError {
    /// The problem, its place and what to do; without secrets.
    public let description: String

    init(_ description: String) {
        self.description = description
    }

    /// The same text as ``description``.
    public var errorDescription: String? { description }
}
