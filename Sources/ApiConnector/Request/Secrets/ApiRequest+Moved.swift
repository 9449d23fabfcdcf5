// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiRequest {
    /// This request for another host, such as a mirror: the same path and query, without user info and `Host` field.
    ///
    /// - A host that the scope admits is trusted like the connection's own host. Inner wrappers can add secrets.
    /// - Any other host only gets a request that has no body and no secrets (``credentialParts``). Secrets that an
    ///   inner wrapper adds have no effect.
    ///
    /// - Parameters:
    ///   - origin: The origin of the other host.
    ///   - credentials: The origins that may get credentials and bodies; the connection's own by default.
    /// - Returns: The request; nil if the origin must not get it.
    public func moved(to origin: HTTPOrigin, showingCredentialsTo credentials: CredentialScope = .connection)
        -> ApiRequest?
    {
        guard origin != HTTPOrigin(url) else { return self }
        var moved = self
        guard let url = url.moved(to: origin) else { return nil }
        moved.unguardedURL = url
        moved.credentialGuard = nil
        moved.headers.remove(.host)
        if credentials.admits(moved) {
            moved.values[TrustedOriginValue.self] = origin
            return moved
        }
        // Without its secrets, this would be a different request. If the server refused it, that would say nothing
        // about the credential.
        guard body.isEmpty, credentialParts.isEmpty else { return nil }
        moved.withholdCredentials()
        return moved
    }

    /// Whether the request goes to an origin that ``moved(to:showingCredentialsTo:)`` has admitted.
    var isToTrustedOrigin: Bool {
        guard let trusted = values[TrustedOriginValue.self] else { return false }
        return HTTPOrigin(url) == trusted
    }
}

/// The trusted origin to which a request was moved.
private enum TrustedOriginValue: RequestValueKey {
    static let defaultValue: HTTPOrigin? = nil
}

extension URL {
    /// The same path, query and fragment at another origin, without user info.
    func moved(to origin: HTTPOrigin) -> URL? {
        let text = absoluteString
        guard let start = text.range(of: "://")?.upperBound else { return nil }
        let rest = text[start...].firstIndex { "/?#".contains($0) }.map { text[$0...] } ?? ""
        return URL(string: origin.description + rest)
    }
}
