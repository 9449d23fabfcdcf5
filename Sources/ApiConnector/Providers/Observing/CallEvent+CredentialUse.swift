// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension CallEvent {
    /// An event of a call's credentials, reported by ``DataRequestType/authenticating(by:for:)``.
    public enum CredentialUse: String, Sendable, Hashable, CustomStringConvertible {
        /// The call started a refresh and waits for it.
        case refreshStarted
        /// The call waits for a refresh that another call started.
        case refreshJoined
        /// The refresh returned a new credential.
        case refreshed
        /// The refresh failed, and the call uses the old credential, which is still valid.
        case kept
        /// The refresh failed, or the user signed out.
        case unavailable
        /// The server refused a credential that had been replaced meanwhile. The request is sent again with the new
        /// one.
        case resent

        /// The name of the case.
        public var description: String { rawValue }
    }
}
