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
        let refused = Self.items(of: url).filter {
            redactor.isSecret(encodedItem: $0) && !items.contains(Self.decoded($0))
        }
        let showsUser = Self.userInfo(of: url) != userInfo && Self.userInfo(of: url) != [nil, nil]
        guard !refused.isEmpty || showsUser, var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else {
            return url
        }
        if !refused.isEmpty {
            let kept = Self.items(of: url).filter { !refused.contains($0) }
            parts.percentEncodedQuery = kept.isEmpty ? nil : kept.joined(separator: "&")
        }
        if showsUser {
            parts.user = nil
            parts.password = nil
        }
        return parts.url ?? url
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
    /// Whether an item of a query, as it stands in the URL, is secret by its name.
    func isSecret(encodedItem item: Substring) -> Bool {
        let name = item.prefix { $0 != "=" }.replacing("+", with: " ")
        return isSecret(queryItem: name.removingPercentEncoding ?? String(name))
    }
}

extension ApiRequest {
    /// Whether it goes to the origin of its connection's environment; nil for a request made by hand, which has none.
    ///
    /// It is false after a redirect to another origin, and for a call at the URL of another origin. A default port and
    /// none are the same origin. Secrets that a wrapper sets in such a request have no effect:
    /// ``setCredentials(for:_:)``.
    public var isToOwnOrigin: Bool? {
        guard let environment = context?.environment else { return nil }
        return HTTPOrigin.isPlainly(environment, url) || HTTPOrigin(url) == HTTPOrigin(environment)
    }

    /// Sets a credential, if the request goes to an origin that the credential is for.
    ///
    /// A wrapper sees each hop of a call's redirects. So a request to another origin than its connection's takes no new
    /// secret: a header field, query item or user info that ``Redactor/standard`` knows is taken out as soon as it is
    /// set. Set one there with this function. ``DataRequestType/authenticated(by:for:)`` does the same.
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
