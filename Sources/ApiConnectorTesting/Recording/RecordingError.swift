// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// An error while a recording is read or saved.
public struct RecordingError: Error, Sendable, CustomStringConvertible, LocalizedError {
    /// A text without secrets: the problem, its place and what to do.
    public let description: String

    init(_ description: String) {
        self.description = description
    }

    /// The same text as ``description``.
    public var errorDescription: String? { description }
}
