// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Where an authenticating provider has its credentials from.
///
/// Three are ready: ``CredentialSource/fixed(_:)``, ``PerRequestCredentials`` and ``RefreshableCredentials``.
public protocol CredentialSource: Sendable {
    /// The credential for a request; nil sends it without one.
    ///
    /// - Throws: ``ApiConnectorError``; of kind `.credentialsUnavailable` where there should be one and is none.
    func credential(for request: ApiRequest) async throws(ApiConnectorError) -> ApiCredential?

    /// Takes note that a server refused a credential, by status 401.
    ///
    /// The request is sent again if ``credential(for:)`` gives one of another version then. Nothing by default.
    func refuse(_ credential: ApiCredential)
}

extension CredentialSource {
    /// Nothing.
    public func refuse(_ credential: ApiCredential) {}
}

/// One credential that never changes; made by ``CredentialSource/fixed(_:)``.
public struct FixedCredential: CredentialSource {
    fileprivate let credential: ApiCredential

    /// The credential.
    public func credential(for request: ApiRequest) async throws(ApiConnectorError) -> ApiCredential? { credential }
}

/// A credential for each request, such as by its route or a tenant.
///
/// ```swift
/// let provider = SystemProvider().authenticated(
///     by: PerRequestCredentials { request in request.routeName == "admin" ? .bearer(adminToken) : nil }
/// )
/// ```
public struct PerRequestCredentials: CredentialSource {
    private let lookUp: @Sendable (ApiRequest) async throws -> ApiCredential?

    /// Makes a source of a closure, which is asked before each time that a request is sent, and again after a 401.
    ///
    /// - Parameter lookUp: Finds the credential; nil sends the request without one. It should be quick, and heed its
    ///   task's cancel.
    public init(_ lookUp: @escaping @Sendable (ApiRequest) async throws -> ApiCredential?) {
        self.lookUp = lookUp
    }

    /// What the closure finds.
    ///
    /// - Throws: ``ApiConnectorError``; of kind `.credentialsUnavailable` for any other error that the closure throws.
    public func credential(for request: ApiRequest) async throws(ApiConnectorError) -> ApiCredential? {
        do {
            return try await lookUp(request)
        } catch let error as ApiConnectorError {
            throw error
        } catch {
            throw .credentialsUnavailable("there is no credential", because: error)
        }
    }
}

extension CredentialSource where Self == FixedCredential {
    /// One credential that never changes: a 401 is delivered as it is.
    public static func fixed(_ credential: ApiCredential) -> FixedCredential {
        FixedCredential(credential: credential)
    }
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
