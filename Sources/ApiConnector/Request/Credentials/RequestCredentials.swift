// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

// Which secrets a request may contain. A request to an origin other than its connection's has a guard: it accepts no new
// secret unless setCredentials(for:_:) sets it.

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
        moved.point(to: url)
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
}

extension RequestState {
    /// Restricts the secrets that a request can contain.
    struct Credentials: Sendable { fileprivate var guarding: CredentialGuard? }
}

extension ApiRequest {
    /// Restricts the secrets in the request; nil for no restriction.
    private var credentialGuard: CredentialGuard? {
        get { state.storage?.parts.credentials.guarding }
        set { if newValue !== credentialGuard { state.change { $0.credentials.guarding = newValue } } }
    }

    /// Sets a URL, keeps all secrets, and removes the guard.
    mutating func point(to url: URL) {
        credentialGuard = nil
        unguardedURL = url
    }

    /// Removes fields and items that were set before their names were known to be secret.
    mutating func applyGuard() {
        guard credentialGuard != nil else { return }
        headers = admittedHeaders
        unguardedURL = admittedURL
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

    mutating func withholdCredentials() { credentialGuard = CredentialGuard(self) }

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

    /// Whether the request goes to an origin that ``moved(to:showingCredentialsTo:)`` has admitted.
    var isToTrustedOrigin: Bool {
        guard let trusted = values[TrustedOriginValue.self] else { return false }
        return HTTPOrigin(url) == trusted
    }
}

/// The secrets that a request to a foreign origin may contain: those that it had when this guard was created.
///
/// A wrapper receives each hop of the redirects, and may set the same credential on each hop. Such a credential is
/// removed immediately. The target of a redirect keeps its own query, which the server chose, for example the signature
/// of a presigned URL.
private final class CredentialGuard: Sendable {
    private let fields: [HTTPHeaders.Field]
    private let items: Set<[String]>
    private let userInfo: [String?]

    init(_ request: ApiRequest) {
        let redactor = request.redactor
        fields = request.headers.filter { redactor.isSecret($0) }
        items = Set(Self.items(of: request.url).filter { redactor.isSecret(encodedItem: $0) }.map(Self.decoded))
        userInfo = Self.userInfo(of: request.url)
    }

    /// Whether the request may contain a field.
    func admits(_ field: HTTPHeaders.Field, _ redactor: Redactor) -> Bool {
        !redactor.isSecret(field)
            || fields.contains { $0.name == field.name && $0.value == field.value }
    }

    /// The URL without secrets that were added to it.
    func admitted(_ url: URL, _ redactor: Redactor) -> URL {
        let userInfo = Self.userInfo(of: url)
        return Self.url(url, withoutUserInfo: userInfo != self.userInfo && userInfo != [nil, nil]) {
            redactor.isSecret(encodedItem: $0) && !items.contains(Self.decoded($0))
        }
    }

    /// The URL without secrets that it shares with an earlier URL.
    static func url(_ url: URL, withoutSecretsOf old: URL, _ redactor: Redactor) -> URL {
        let oldItems = Set(items(of: old).map(decoded))
        let userInfo = userInfo(of: url)
        return Self.url(url, withoutUserInfo: userInfo == Self.userInfo(of: old) && userInfo != [nil, nil]) {
            redactor.isSecret(encodedItem: $0) && oldItems.contains(decoded($0))
        }
    }

    private static func url(
        _ url: URL,
        withoutUserInfo hidesUser: Bool,
        withoutItems isRefused: (Substring) -> Bool
    ) -> URL {
        let items = items(of: url)
        let kept = items.filter { !isRefused($0) }
        guard hidesUser || kept.count < items.count else { return url }
        var text = url.absoluteString
        if kept.count < items.count, let mark = text.firstIndex(of: "?") {
            let end = text[mark...].firstIndex(of: "#") ?? text.endIndex
            text.replaceSubrange(mark..<end, with: kept.isEmpty ? "" : "?\(kept.joined(separator: "&"))")
        }
        if hidesUser, let start = text.range(of: "://")?.upperBound {
            let end = text[start...].firstIndex { "/?#".contains($0) } ?? text.endIndex
            if let at = text[start..<end].lastIndex(of: "@") { text.removeSubrange(start...at) }
        }
        // If the remaining text is not a URL, all parts that may contain a secret are removed.
        return URL(string: text) ?? url.withoutQueryAndUser
    }

    private static func items(of url: URL) -> [Substring] {
        (url.query(percentEncoded: true) ?? "").split(separator: "&", omittingEmptySubsequences: false)
    }

    /// The decoded name and value, because a wrapper may encode an existing item differently.
    private static func decoded(_ item: Substring) -> [String] {
        item.split(separator: "=", maxSplits: 1).map(\.formDecoded)
    }

    private static func userInfo(of url: URL) -> [String?] {
        [url.user(percentEncoded: true), url.password(percentEncoded: true)]
    }
}

extension HTTPHeaders {
    /// Removes the fields that are for one origin only: those with secret names, or with values in the form of a
    /// credential.
    mutating func removeSecrets(known redactor: Redactor = .standard) {
        removeAll { redactor.isSecret($0) }
    }
}

extension Redactor {
    /// Whether a query item, as written in the URL, has a secret name, or a value in the form of a credential.
    func isSecret(encodedItem item: Substring) -> Bool {
        let name = Substring(item.utf8.prefix { $0 != UInt8(ascii: "=") })
        let value = Substring(item.utf8.dropFirst(name.utf8.count + 1))
        return isSecret(queryItem: name.formDecoded) || CredentialForm.fits(value.formDecoded)
    }
}

extension Substring {
    /// A name or a value of a query, decoded; a plus sign means a space.
    fileprivate var formDecoded: String {
        guard utf8.contains(where: { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "%") }) else { return String(self) }
        let spaced = replacing("+", with: " ")
        return spaced.removingPercentEncoding ?? String(spaced)
    }
}

extension URL {
    /// Scheme, host, port and path.
    var withoutQueryAndUser: URL {
        var parts = URLComponents()
        parts.scheme = scheme
        parts.host = host()
        parts.port = port
        parts.path = path()
        return parts.url ?? URL(filePath: "/")
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
