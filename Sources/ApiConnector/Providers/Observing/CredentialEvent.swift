// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// What a call has to do with credentials, in a provider that is ``DataRequestType/authenticating(by:for:)``.
public enum CredentialEvent: String, Sendable, Hashable, CustomStringConvertible {
    /// This call started a refresh and waits for it.
    case refreshStarted
    /// This call waits for a refresh that another one started.
    case refreshJoined
    /// The refresh brought a credential.
    case refreshed
    /// The refresh failed, and the credential that there was still holds: the request goes with that.
    case kept
    /// The refresh failed, or the credentials were given up.
    case unavailable
    /// The server refused a credential that has been replaced since: the request is sent again with the new one.
    case resent

    /// The name of the case.
    public var description: String { rawValue }
}
