// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// A version of shared data.
public struct SharedRecord: Sendable, Hashable {
    /// The version, which changes each time that the record is replaced.
    public let version: UInt64
    /// The data; nil if there is none, or if its lifetime is over.
    public let data: Data?

    /// Makes a record.
    ///
    /// For implementations of ``SharedState``.
    public init(version: UInt64, data: Data?) {
        self.version = version
        self.data = data
    }
}
