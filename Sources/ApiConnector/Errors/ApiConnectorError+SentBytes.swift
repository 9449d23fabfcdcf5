// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiConnectorError {
    /// How much of a request was sent, as far as the client can tell.
    ///
    /// The server may have processed what was sent, even if no response arrived.
    public enum SentBytes: String, Sendable, Hashable, CaseIterable {
        /// Not one byte: the server cannot have processed the request.
        case nothing
        /// A part of the request.
        case some
        /// Everything, or possibly everything.
        case all
    }
}
