// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A model that travels: encoded, decoded, and handed between actors.
///
/// In a module whose default isolation is the main actor, as Xcode sets it for new apps, a plain `Codable` struct
/// belongs to the main actor and cannot be decoded elsewhere. One that conforms to `ApiModel`, or is declared
/// `nonisolated`, can.
public protocol ApiModel: Codable, Sendable {}
