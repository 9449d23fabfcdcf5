// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Names of secrets in one request that the standard redactor does not know: those of its credential.
final class OwnSecrets: Sendable {
    private let headerNames: [HTTPHeaders.Name]
    private let queryItemNames: [String]
    /// The standard redactor with these names.
    fileprivate let redactor: Redactor

    /// Returns nil if the standard redactor knows the names.
    init?(headerNames: [HTTPHeaders.Name] = [], queryItemNames: [String] = []) {
        let headerNames = headerNames.filter { !Redactor.standard.isSecret(header: $0) }
        let queryItemNames = queryItemNames.filter { !Redactor.standard.isSecret(queryItem: $0) }
        guard !headerNames.isEmpty || !queryItemNames.isEmpty else { return nil }
        self.headerNames = headerNames
        self.queryItemNames = queryItemNames
        self.redactor = Self.adding(headerNames, queryItemNames, to: .standard)
    }

    /// The names of both; nil if there are none.
    static func joining(_ one: OwnSecrets?, _ other: OwnSecrets?) -> OwnSecrets? {
        guard let one, let other, one !== other else { return one ?? other }
        let headerNames = other.headerNames.filter { !one.headerNames.contains($0) }
        let queryItemNames = other.queryItemNames.filter { !one.queryItemNames.contains($0) }
        if headerNames.isEmpty, queryItemNames.isEmpty { return one }
        return OwnSecrets(
            headerNames: one.headerNames + headerNames,
            queryItemNames: one.queryItemNames + queryItemNames
        )
    }

    /// Each name is secret in header fields, query items and bodies, because a server that echoes a request may put it
    /// anywhere.
    private static func adding(
        _ headerNames: [HTTPHeaders.Name],
        _ queryItemNames: [String],
        to redactor: Redactor
    ) -> Redactor {
        var redactor = redactor
        let names = headerNames.map(\.rawValue) + queryItemNames
        redactor.add(headerNames: names.map { HTTPHeaders.Name($0) }, queryItemNames: names, bodyFieldNames: names)
        return redactor
    }

    fileprivate func added(to redactor: Redactor) -> Redactor {
        Self.adding(headerNames, queryItemNames, to: redactor)
    }
}

extension ApiRequest {
    /// The redactor that knows the names of the request's secrets.
    var redactor: Redactor { ownSecrets?.redactor ?? .standard }

    /// Adds names of header fields and query items whose values are secret in all texts about this request.
    ///
    /// Call it in a wrapper before it adds a credential under a name that ``Redactor/standard`` does not know. Errors,
    /// logs and recordings then redact the values. Caches treat the values as credentials, and so do redirects to
    /// another origin.
    ///
    /// - Parameters:
    ///   - headerNames: Names of header fields; none by default.
    ///   - queryItemNames: Names of query items; none by default.
    public mutating func addSecretNames(headerNames: [HTTPHeaders.Name] = [], queryItemNames: [String] = []) {
        ownSecrets = .joining(ownSecrets, OwnSecrets(headerNames: headerNames, queryItemNames: queryItemNames))
        // Removes fields and items that were set before their names were known to be secret.
        guard credentialGuard != nil else { return }
        headers = admittedHeaders
        unguardedURL = admittedURL
    }

    /// Makes a redactor that also knows this request's own secrets.
    ///
    /// It knows the names of the header fields and query items of the credential. It also knows the secret values in
    /// the request, and replaces them where a server quotes them.
    ///
    /// It collects values from the header fields, the URL, and a body or a part of a multipart form in memory of up to
    /// 64 KiB. A value is secret because of its name or its form. Examples are credentials, cookies, query
    /// items, user info, and fields of JSON and forms.
    ///
    /// It replaces a value anywhere, also percent-encoded, JSON-escaped or in base64, if the value has:
    ///
    /// - 8 bytes or more, or
    /// - 6 or 7 bytes that mix letters with other characters.
    ///
    /// It replaces a shorter value only after the value's name.
    ///
    /// For a request of a credential refresh, and for a request with a `grant_type` (RFC 6749), it also treats the
    /// strings in the JSON of the response as secret.
    ///
    /// - Parameters:
    ///   - redactor: The redactor to extend: ``Redactor/standard``, or a redactor with your own names.
    ///   - includesValues: Whether it also knows the values; true by default. Pass false in code that runs in every
    ///     call.
    /// - Complexity: O(*n*) in the size of header fields, URL and body; O(1) without the values.
    public func redactor(from redactor: Redactor, includingValues includesValues: Bool = true) -> Redactor {
        var redactor = ownSecrets?.added(to: redactor) ?? redactor
        if includesValues {
            if asksForTokens { redactor.expectTokens() }
            redactor.values = .joining(redactor.values, secretValues(known: redactor))
        }
        return redactor
    }
}
