// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiRequest {
    /// Whether the request goes to the origin of its connection's environment; nil for a request without a connection.
    ///
    /// - It is false after a redirect to another origin, and for a call to a URL with another origin. Secrets that a
    ///   wrapper sets in such a request have no effect, unless the wrapper sets them with ``setCredentials(for:_:)``.
    /// - It is true for a host to which ``moved(to:showingCredentialsTo:)`` has moved the request with its credentials.
    /// - A URL with the default port and a URL without a port have the same origin.
    public var isToOwnOrigin: Bool? {
        guard let environment = context?.environment else { return nil }
        return HTTPOrigin.isPlainly(environment, url) || HTTPOrigin(url) == HTTPOrigin(environment) || isToTrustedOrigin
    }

    /// Whether secrets that a wrapper adds are removed, because the request goes to an origin other than its
    /// connection's.
    ///
    /// See ``setCredentials(for:_:)``.
    public var withholdsCredentials: Bool { credentialGuard != nil }

    /// Sets a credential if the request goes to an origin that the credential is for.
    ///
    /// A wrapper receives each hop of a call's redirects, and could send the connection's secrets to another origin. To
    /// prevent this, a request to an origin other than its connection's does not accept new secrets: it immediately
    /// removes a new header field, query item or user info that ``Redactor/standard`` treats as secret. Use this
    /// function to set such a secret. ``DataRequestType/authenticating(by:for:)`` does the same.
    ///
    /// ```swift
    /// var request = request
    /// request.setCredentials(for: .connection(and: cdn)) { $0.headers[.authorization] = "Bearer \(token)" }
    /// ```
    ///
    /// - Parameters:
    ///   - scope: The origins that the credential is for; the connection's own by default.
    ///   - set: Changes the request; called only if the request goes to one of these origins.
    /// - Returns: Whether `set` was called.
    @discardableResult
    public mutating func setCredentials(
        for scope: CredentialScope = .connection,
        _ set: (inout ApiRequest) throws -> Void
    ) rethrows -> Bool {
        guard scope.admits(self) else { return false }
        let isGuarded = credentialGuard != nil
        credentialGuard = nil
        defer { if isGuarded { withholdCredentials() } }
        try set(&self)
        return true
    }

    /// Like ``setCredentials(for:_:)``, for a credential that takes time to make, such as a signature of the request.
    ///
    /// ```swift
    /// try await request.authorize { request throws(ApiConnectorError) in try await signer.sign(&request) }
    /// ```
    ///
    /// - Parameters:
    ///   - scope: The origins that the credential is for; the connection's own by default.
    ///   - set: Changes the request; called only if the request goes to one of these origins.
    /// - Returns: Whether `set` was called.
    /// - Throws: The error of `set`. The request may then have parts of the credential.
    @discardableResult
    public mutating func authorize<Failure: Error>(
        for scope: CredentialScope = .connection,
        _ set: (inout ApiRequest) async throws(Failure) -> Void
    ) async throws(Failure) -> Bool {
        guard scope.admits(self) else { return false }
        let isGuarded = credentialGuard != nil
        credentialGuard = nil
        defer { if isGuarded { withholdCredentials() } }
        try await set(&self)
        return true
    }

    /// Removes the secrets if the URL now has another origin.
    mutating func leaveSecretsBehind(at old: URL) {
        if HTTPOrigin(old) != HTTPOrigin(unguardedURL) {
            credentialGuard = nil
            unguardedURL = CredentialGuard.url(unguardedURL, withoutSecretsOf: old, redactor)
            headers.removeSecrets(known: redactor)
            withholdCredentialsIfForeign()
        } else if credentialGuard != nil {
            unguardedURL = admittedURL
        }
    }

    /// Prevents secrets from being added if the request goes to a foreign origin.
    mutating func withholdCredentialsIfForeign() {
        if isToOwnOrigin == false { withholdCredentials() } else { credentialGuard = nil }
    }

    mutating func withholdCredentials() {
        credentialGuard = CredentialGuard(self)
    }

    /// The header fields that the request may contain.
    ///
    /// If the request goes to a foreign origin, secrets that a wrapper has set without ``setCredentials(for:_:)`` are
    /// left out.
    var admittedHeaders: HTTPHeaders {
        guard let credentialGuard, isToOwnOrigin != true else { return headers }
        let redactor = redactor
        var admitted = headers
        admitted.removeAll { !credentialGuard.admits($0, redactor) }
        return admitted
    }

    /// The URL without secrets that a wrapper has set and a foreign origin must not get.
    var admittedURL: URL {
        guard let credentialGuard, isToOwnOrigin != true else { return url }
        return credentialGuard.admitted(url, redactor)
    }
}
