// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiConnectorError {
    /// How much of a request the client sent, as far as the client knows.
    ///
    /// The server may have processed a request that was sent, even if no response arrived.
    public enum SentBytes: String, Sendable, Hashable, CaseIterable {
        /// No bytes: the server cannot have processed the request.
        case nothing
        /// A part of the request.
        case some
        /// The whole request, or an unknown part that may be the whole.
        case all
    }
}
