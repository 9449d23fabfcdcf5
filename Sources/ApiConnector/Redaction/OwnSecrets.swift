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
    /// What replaces the secrets in its texts, and in those of its response.
    var redactor: Redactor { ownSecrets?.redactor ?? .standard }

    /// A redactor that knows this request's own secrets, too: the names by which its credential goes.
    ///
    /// - Parameter redactor: What it is made from; ``Redactor/standard``, or one that knows names of yours.
    public func redactor(from redactor: Redactor) -> Redactor {
        ownSecrets?.added(to: redactor) ?? redactor
    }
}
