// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// Why a recording cannot be read or saved.
public struct RecordingError: Error, Sendable, CustomStringConvertible, LocalizedError {
    /// What is wrong, where, and what to do; without secrets.
    public let description: String

    init(_ description: String) {
        self.description = description
    }

    /// The description.
    public var errorDescription: String? { description }
}
