// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A model of a response's body.
public nonisolated protocol ResponseModel: Decodable, Sendable {}
