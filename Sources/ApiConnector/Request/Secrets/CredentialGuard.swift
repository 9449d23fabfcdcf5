// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// What a request to a foreign origin may show of secrets: what it had when it was made.
///
/// A wrapper inside the redirects sees each hop, and may set the same credential on each. What it sets is taken out at once.
/// A redirect's target keeps its own query, which the server made, such as the signature of a presigned URL.
final class CredentialGuard: Sendable {
    private let fields: [HTTPHeaders.Field]
    private let items: Set<[String]>
    private let userInfo: [String?]

    init(_ request: ApiRequest) {
        let redactor = request.redactor
        fields = request.headers.filter { redactor.isSecret(header: $0.name) }
        items = Set(Self.items(of: request.url).filter { redactor.isSecret(encodedItem: $0) }.map(Self.decoded))
        userInfo = Self.userInfo(of: request.url)
    }

    /// Whether a field may stay.
    func admits(_ field: HTTPHeaders.Field, _ redactor: Redactor) -> Bool {
        !redactor.isSecret(header: field.name)
            || fields.contains { $0.name == field.name && $0.value == field.value }
    }

    /// A URL without the secrets that were added to it.
    func admitted(_ url: URL, _ redactor: Redactor) -> URL {
        let userInfo = Self.userInfo(of: url)
        return Self.url(url, withoutUserInfo: userInfo != self.userInfo && userInfo != [nil, nil]) {
            redactor.isSecret(encodedItem: $0) && !items.contains(Self.decoded($0))
        }
    }

    /// A URL without the secrets that it has in common with an earlier one.
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
        // A part was taken out of a URL; if that is no URL, all that may hold a secret goes.
        return URL(string: text) ?? url.withoutQueryAndUser
    }

    private static func items(of url: URL) -> [Substring] {
        (url.query(percentEncoded: true) ?? "").split(separator: "&", omittingEmptySubsequences: false)
    }

    /// Name and value: a wrapper may encode what was there in another way.
    private static func decoded(_ item: Substring) -> [String] {
        item.split(separator: "=", maxSplits: 1).map { part in
            let text = part.replacing("+", with: " ")
            return text.removingPercentEncoding ?? String(text)
        }
    }

    private static func userInfo(of url: URL) -> [String?] {
        [url.user(percentEncoded: true), url.password(percentEncoded: true)]
    }
}

extension HTTPHeaders {
    /// Removes the fields that are for one origin only: those whose names say that they are secret.
    mutating func removeSecrets(known redactor: Redactor = .standard) {
        removeAll { redactor.isSecret(header: $0.name) }
    }
}

extension Redactor {
    /// Whether an item of a query, as it is in the URL, is secret by its name.
    func isSecret(encodedItem item: Substring) -> Bool {
        let name = item.prefix { $0 != "=" }.replacing("+", with: " ")
        return isSecret(queryItem: name.removingPercentEncoding ?? String(name))
    }
}

extension ApiRequest {
    /// Whether it goes to the origin of its connection's environment; nil for a request made by hand, which has none.
    ///
    /// It is false after a redirect to another origin, and for a call at the URL of another origin. It is true for a host to
    /// which ``moved(to:showingCredentialsTo:)`` has moved the request with its credentials. A default port and none are the
    /// same origin.
    ///
    /// While it is false, secrets that a wrapper sets have no effect, unless it sets them by ``setCredentials(for:_:)``.
    public var isToOwnOrigin: Bool? {
        guard let environment = context?.environment else { return nil }
        return HTTPOrigin.isPlainly(environment, url) || HTTPOrigin(url) == HTTPOrigin(environment) || isToTrustedOrigin
    }

    /// Sets a credential, if the request goes to an origin that the credential is for.
    ///
    /// A wrapper sees each hop of a call's redirects. So a request to another origin than its connection's takes no new
    /// secret: a header field, query item or user info that ``Redactor/standard`` knows is taken out as soon as it is
    /// set. Set one there with this function. ``DataRequestType/authenticating(by:for:)`` does the same.
    ///
    /// ```swift
    /// var request = request
    /// request.setCredentials(for: .connection(and: cdn)) { $0.headers[.authorization] = "Bearer \(token)" }
    /// ```
    ///
    /// - Parameters:
    ///   - scope: The origins that the credential is for; the connection's own by default.
    ///   - set: Changes the request; called if its origin is one of these.
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

    /// Leaves the secrets behind if the URL is one of another origin now.
    mutating func leaveSecretsBehind(at old: URL) {
        if HTTPOrigin(old) != HTTPOrigin(location) {
            credentialGuard = nil
            location = CredentialGuard.url(location, withoutSecretsOf: old, redactor)
            headers.removeSecrets(known: redactor)
            withholdCredentialsIfForeign()
        } else if credentialGuard != nil {
            location = admittedURL
        }
    }

    /// Lets no secret be added from now on, if the request goes to a foreign origin.
    mutating func withholdCredentialsIfForeign() {
        if isToOwnOrigin == false { withholdCredentials() } else { credentialGuard = nil }
    }

    mutating func withholdCredentials() {
        credentialGuard = CredentialGuard(self)
    }

    /// The header fields without what a wrapper has set and a foreign origin must not see.
    var admittedHeaders: HTTPHeaders {
        guard let credentialGuard, isToOwnOrigin != true else { return headers }
        let redactor = redactor
        var admitted = headers
        admitted.removeAll { !credentialGuard.admits($0, redactor) }
        return admitted
    }

    /// The URL without what a wrapper has set and a foreign origin must not see.
    var admittedURL: URL {
        guard let credentialGuard, isToOwnOrigin != true else { return url }
        return credentialGuard.admitted(url, redactor)
    }
}

extension URL {
    /// Scheme, host, port and path.
    fileprivate var withoutQueryAndUser: URL {
        var parts = URLComponents()
        parts.scheme = scheme
        parts.host = host()
        parts.port = port
        parts.path = path()
        return parts.url ?? URL(filePath: "/")
    }
}
