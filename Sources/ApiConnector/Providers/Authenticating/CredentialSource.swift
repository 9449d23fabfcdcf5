// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A source of credentials for ``DataRequestType/authenticating(by:for:)``.
///
/// The library has three: ``fixed(_:)``, ``ApiCredential/perRequest(_:)`` and ``RefreshableCredentials``.
public protocol CredentialSource: Sendable {
    /// Returns the credential for a request; nil sends the request without one.
    ///
    /// - Throws: ``ApiConnectorError``; of kind `.credentialsUnavailable` if a credential is required and none is
    ///   available.
    func credential(for request: ApiRequest) async throws(ApiConnectorError) -> ApiCredential?

    /// Records that a server refused a credential with status 401.
    ///
    /// The request is sent again if ``credential(for:)`` then returns a credential with another version. The default
    /// implementation does nothing.
    func refuse(_ credential: ApiCredential)
}

extension CredentialSource {
    /// Does nothing.
    public func refuse(_ credential: ApiCredential) {}
}

extension CredentialSource where Self == ApiCredential {
    /// A credential that never changes.
    ///
    /// After a 401, the request is not sent again, and the caller receives the 401.
    public static func fixed(_ credential: ApiCredential) -> ApiCredential { credential }
}

extension ApiConnectorError {
    static func credentialsUnavailable(
        _ detail: String,
        because error: (any Error)? = nil
    ) -> ApiConnectorError {
        let reason = error.map { ": " + ApiConnectorError(mapping: $0, request: nil).detail } ?? ""
        return ApiConnectorError(.credentialsUnavailable, detail + reason, underlying: error)
    }
}
