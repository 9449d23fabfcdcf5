// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Where an authenticating provider has its credentials from.
///
/// Three are ready: ``fixed(_:)``, ``ApiCredential/perRequest(_:)`` and ``RefreshableCredentials``.
public protocol CredentialSource: Sendable {
    /// The credential for a request; nil sends it without one.
    ///
    /// - Throws: ``ApiConnectorError``; of kind `.credentialsUnavailable` if there should be a credential and there is none.
    func credential(for request: ApiRequest) async throws(ApiConnectorError) -> ApiCredential?

    /// Records that a server refused a credential, by status 401.
    ///
    /// The request is sent again if ``credential(for:)`` gives one of another version then. Nothing by default.
    func refuse(_ credential: ApiCredential)
}

extension CredentialSource {
    /// Nothing.
    public func refuse(_ credential: ApiCredential) {}
}

extension CredentialSource where Self == ApiCredential {
    /// One credential that never changes: a 401 is delivered as it is.
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
