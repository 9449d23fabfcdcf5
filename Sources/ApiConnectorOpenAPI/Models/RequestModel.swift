// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A model of a request's body.
public nonisolated protocol RequestModel: Encodable, Sendable {}
