// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A model that can be encoded, decoded and passed between actors.
///
/// If a module's default isolation is the main actor, as in new Xcode apps, a plain `Codable` struct belongs to the
/// main actor and cannot be decoded elsewhere. A struct that conforms to `ApiModel`, or is declared `nonisolated`, can
/// be decoded anywhere.
public protocol ApiModel: Codable, Sendable {}
