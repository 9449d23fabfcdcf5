// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiConnectorError {
    /// How much of a request was sent, as far as the client can tell.
    ///
    /// What was sent may have been processed, whether or not a response came.
    public enum SentBytes: String, Sendable, Hashable, CaseIterable {
        /// Not one byte: the server cannot have processed the request.
        case nothing
        /// The head, and a part of the body at most.
        case some
        /// Everything, or possibly everything.
        case all
    }
}
