// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Names whose values are secret in one request: those that a credential goes by and no redactor knows.
final class OwnSecrets: Sendable {
    private let headerNames: [HTTPHeaders.Name]
    private let queryItemNames: [String]
    /// The standard redactor with these names.
    fileprivate let redactor: Redactor

    /// Nil where the standard redactor knows the names.
    init?(headerNames: [HTTPHeaders.Name] = [], queryItemNames: [String] = []) {
        let headerNames = headerNames.filter { !Redactor.standard.isSecret(header: $0) }
        let queryItemNames = queryItemNames.filter { !Redactor.standard.isSecret(queryItem: $0) }
        guard !headerNames.isEmpty || !queryItemNames.isEmpty else { return nil }
        self.headerNames = headerNames
        self.queryItemNames = queryItemNames
        self.redactor = Self.adding(headerNames, queryItemNames, to: .standard)
    }

    /// Those of both; nil where there are none.
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

    /// A server that echoes a request puts such a name anywhere.
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
    /// Which names are those of its secrets.
    var redactor: Redactor { ownSecrets?.redactor ?? .standard }

    /// Tells all texts about this request that it has more secrets: header fields and query items of these names.
    ///
    /// A wrapper that adds a credential under a name that ``Redactor/standard`` does not know calls it before it sets the
    /// credential. Errors, logs and recordings then replace the values. A redirect to another origin and a cache treat them as credentials.
    ///
    /// - Parameters:
    ///   - headerNames: Names of header fields; none by default.
    ///   - queryItemNames: Names of query items; none by default.
    public mutating func addSecretNames(headerNames: [HTTPHeaders.Name] = [], queryItemNames: [String] = []) {
        ownSecrets = .joining(ownSecrets, OwnSecrets(headerNames: headerNames, queryItemNames: queryItemNames))
        // What was set before it was known to be secret.
        guard credentialGuard != nil else { return }
        headers = admittedHeaders
        location = admittedURL
    }

    /// A redactor that also knows this request's own secrets.
    ///
    /// It knows the names of the fields and query items that carry the credential. It also knows the secret values in the
    /// request, so that it replaces them where a server quotes them.
    ///
    /// It takes values from the header fields, the URL and a body in memory of up to 64 KiB. A name or a form shows that a
    /// value is secret. Examples are credentials, cookies, query items, user info, and fields of JSON and forms.
    ///
    /// It replaces a value everywhere, also when it is percent-encoded, JSON-escaped or in base64, if the value has:
    ///
    /// - 8 bytes or more, or
    /// - 6 or 7 bytes that mix letters with other characters.
    ///
    /// It replaces a shorter value only where the value's name precedes it.
    ///
    /// - Parameters:
    ///   - redactor: The redactor to start from: ``Redactor/standard``, or one that knows your own names.
    ///   - includesValues: Whether it knows the values, too; true by default. Pass false in code that runs on every call.
    /// - Complexity: O(*n*) in the size of header fields, URL and body; O(1) without the values.
    public func redactor(from redactor: Redactor, includingValues includesValues: Bool = true) -> Redactor {
        var redactor = ownSecrets?.added(to: redactor) ?? redactor
        if includesValues { redactor.values = .joining(redactor.values, secretValues(known: redactor)) }
        return redactor
    }
}
