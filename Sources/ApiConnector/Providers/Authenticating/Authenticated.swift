// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A provider that shows a credential with each request; made by ``DataRequestType/authenticating(by:for:)``.
struct Authenticated<Wrapped: DataRequestType, Source: CredentialSource>: DataRequestType {
    private let wrapped: Wrapped
    private let source: Source
    private let scope: CredentialScope

    init(_ wrapped: Wrapped, by source: Source, for scope: CredentialScope) {
        self.wrapped = wrapped
        self.source = source
        self.scope = scope
    }

    /// Sends the request with its credential, and again with a newer one where the server refuses it.
    ///
    /// - Throws: What the wrapped provider throws, and ``ApiConnectorError`` of kind `.credentialsUnavailable`.
    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        guard scope.admits(request), var credential = try await source.credential(for: request) else {
            return try await wrapped.response(for: request)
        }
        var sendCount = 1
        while true {
            var authorized = request
            // As setCredentials does, which cannot wait for a credential.
            authorized.credentialGuard = nil
            guard try await credential.authorize(&authorized) else {
                return try await wrapped.response(for: request)
            }
            if request.credentialGuard != nil { authorized.withholdCredentials() }
            let response = try await wrapped.response(for: authorized)
            // A credential that was made for this very call is not refused for its age: another would fare no better.
            guard response.status == 401, !(sendCount > 1 && credential.isFresh), sendCount < Self.maximumSendCount
            else { return response }
            source.refuse(credential)
            guard request.body.isReplayable, let newer = try await source.credential(for: request),
                newer.version != credential.version
            else { return response }
            response.discardBody()
            if !newer.isFresh { request.report(.credentials(.resent)) }
            credential = newer
            sendCount += 1
        }
    }

    /// The first, one for a credential that another call has replaced, and one for a refreshed one.
    private static var maximumSendCount: Int { 3 }
}

extension DataRequestType {
    /// This provider, showing a credential with each request to the allowed origins.
    ///
    /// A 401 is told to the source. If that has a newer credential then, or makes one, the request is sent again,
    /// unless its body cannot be; a second refusal of one made for this call is delivered. A field or query item that
    /// the call itself has set is left alone, and so is a request to any other origin.
    ///
    /// ```swift
    /// let provider = SystemProvider().authenticating(by: .fixed(.apiKey(key)))
    /// ```
    ///
    /// - Parameters:
    ///   - source: Where the credentials come from.
    ///   - scope: Which origins may see them; the connection's own by default.
    public func authenticating<Source: CredentialSource>(
        by source: Source,
        for scope: CredentialScope = .connection
    ) -> some DataRequestType {
        Authenticated(self, by: source, for: scope)
    }
}
