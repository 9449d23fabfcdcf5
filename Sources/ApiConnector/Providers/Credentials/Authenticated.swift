// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A provider that adds a credential to each request; made by ``DataRequestType/authenticating(by:for:)``.
struct Authenticated<Wrapped: DataRequestType, Source: CredentialSource>: DataRequestType {
    private let wrapped: Wrapped
    private let source: Source
    private let scope: CredentialScope

    init(_ wrapped: Wrapped, by source: Source, for scope: CredentialScope) {
        self.wrapped = wrapped
        self.source = source
        self.scope = scope
    }

    /// Sends the request with its credential, and again with a newer credential after a 401.
    ///
    /// - Throws: The error of the wrapped provider, or ``ApiConnectorError`` of kind `.credentialsUnavailable`.
    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        guard scope.admits(request), var credential = try await source.credential(for: request) else {
            return try await wrapped.response(for: request)
        }
        var request = request
        var sendCount = 1
        while true {
            var authorized = request
            var isAuthorized = false
            do throws(ApiConnectorError) {
                try await authorized.authorize(for: scope) { (request) throws(ApiConnectorError) in
                    isAuthorized = try await credential.add(to: &request)
                }
            } catch {
                throw error.afterAttempts(of: request)
            }
            guard isAuthorized else { return try await wrapped.response(for: request) }
            var response = try await wrapped.response(for: authorized)
            // If the server refuses a fresh credential after another one, a further one would not help. The first
            // credential may be fresh only because the caller has signed in.
            guard response.status == 401, !(sendCount > 1 && credential.isFresh), sendCount < Self.maximumSendCount
            else { return response }
            // An open body would keep its connection, and its place in a concurrency limit, during the refresh.
            response = try await response.opened(by: authorized, reading: Self.heldByteCount)
            source.refuse(credential)
            guard request.body.isReplayable else { return response }
            request.keepKeyAndAttempts(of: response.request)
            guard let newer = try await newCredential(for: request), newer.version != credential.version
            else { return response }
            response.discardBody()
            if !newer.isFresh { request.report(.credentials(.resent)) }
            credential = newer
            sendCount += 1
        }
    }

    private func newCredential(for request: ApiRequest) async throws(ApiConnectorError) -> ApiCredential? {
        do throws(ApiConnectorError) {
            return try await source.credential(for: request)
        } catch {
            throw error.afterAttempts(of: request)
        }
    }

    /// At most, the request is sent with the first credential, then with a credential that another call has refreshed,
    /// and then with a credential that was refreshed for this call.
    private static var maximumSendCount: Int { 3 }

    /// How much of a streamed 401 is read before the refresh, in bytes: 64 KiB.
    private static var heldByteCount: Int { 64 << 10 }
}

extension DataRequestType {
    /// Returns a provider that adds a credential to each request to the allowed origins.
    ///
    /// After a 401:
    ///
    /// - The provider tells the source that the credential was refused.
    /// - If the source then returns a newer credential, the provider sends the request again, unless the body cannot be
    ///   replayed.
    /// - If the server also refuses a credential that was created for this call, the caller receives the 401.
    ///
    /// A request is sent unchanged if it already has the header field or query item, or if it goes to an origin that is
    /// not allowed.
    ///
    /// ```swift
    /// let provider = SystemProvider().authenticating(by: .fixed(.apiKey(key)))
    /// ```
    ///
    /// - Parameters:
    ///   - source: The source of the credentials.
    ///   - scope: The origins that get the credential; only the connection's own by default.
    public func authenticating<Source: CredentialSource>(
        by source: Source,
        for scope: CredentialScope = .connection
    ) -> some DataRequestType {
        Authenticated(self, by: source, for: scope)
    }
}

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

/// Signs requests, for example with AWS Signature Version 4 or HTTP Message Signatures (RFC 9421).
///
/// ```swift
/// struct BodyDigestSigner: RequestSigner {
///     let sign: @Sendable (Data) -> String
///
///     func sign(_ request: inout ApiRequest) async throws(ApiConnectorError) {
///         let body = try await request.body.collect(upTo: 1 << 20)
///         request.headers["X-Signature"] = sign(body)
///     }
/// }
/// ```
public protocol RequestSigner: Sendable {
    /// The names of the secret header fields that the signer sets; none by default.
    ///
    /// They are redacted in addition to the fields that ``Redactor/standard`` redacts.
    var secretHeaderNames: [HTTPHeaders.Name] { get }

    /// Signs a request that is ready to be sent: URL, header fields and encoded body are final.
    ///
    /// ``RequestBody/data()`` returns the bytes of a body in memory, and ``RequestBody/collect(upTo:)`` those of any
    /// body. If the body cannot be sent again, ``RequestBody/collect(upTo:)`` consumes it, so the signer has to set the
    /// body again.
    ///
    /// - Throws: ``ApiConnectorError``, which fails the call. Nothing is sent.
    func sign(_ request: inout ApiRequest) async throws(ApiConnectorError)
}

extension RequestSigner {
    /// No names.
    public var secretHeaderNames: [HTTPHeaders.Name] { [] }
}
