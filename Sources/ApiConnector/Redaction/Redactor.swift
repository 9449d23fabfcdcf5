// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Replaces what must not be read in errors, logs, cURL commands and recordings.
///
/// It goes by names, those of header fields, query items and body fields, wherever in a text they stand, and by a few
/// shapes: user info in URLs, `Bearer …` and `Basic …`, JSON web tokens. Names are compared without case and
/// separators: `access_token`, `accessToken` and `Access-Token` are one. Where a name or an end is in doubt it replaces
/// too much rather than too little.
///
/// ``ApiRequest/redactor(from:includingValues:)`` makes a redactor that also knows the secrets of one request. It replaces
/// them where a server quotes them.
///
/// Total over any input, and linear in its length.
public struct Redactor: Sendable, Hashable {
    /// What stands in place of a secret.
    public static let replacement = "REDACTED"

    /// The redactor that every text of the library passes.
    public static let standard = Redactor()

    private var headerNames: SecretNames
    private var queryItemNames: SecretNames
    private var bodyFieldNames: SecretNames
    /// Secrets that are replaced wherever they stand; nil for none.
    var values: SecretValues?

    /// Makes a redactor that knows further names beside those of ``standard``.
    ///
    /// - Parameters:
    ///   - headerNames: Header fields; none by default.
    ///   - queryItemNames: Items of a URL's query or fragment, or of a form; none by default.
    ///   - bodyFieldNames: Fields of JSON, forms and XML, wherever they are nested; none by default.
    public init(
        headerNames: [HTTPHeaders.Name] = [],
        queryItemNames: [String] = [],
        bodyFieldNames: [String] = []
    ) {
        self.headerNames = .headers
        self.queryItemNames = .queryItems
        self.bodyFieldNames = .bodyFields
        add(headerNames: headerNames, queryItemNames: queryItemNames, bodyFieldNames: bodyFieldNames)
    }

    /// Adds further names; see ``init(headerNames:queryItemNames:bodyFieldNames:)``.
    public mutating func add(
        headerNames: [HTTPHeaders.Name] = [],
        queryItemNames: [String] = [],
        bodyFieldNames: [String] = []
    ) {
        self.headerNames.add(headerNames.map(\.rawValue))
        self.queryItemNames.add(queryItemNames)
        self.bodyFieldNames.add(bodyFieldNames)
    }

    /// Whether the value of a header field is replaced.
    public func isSecret(header name: HTTPHeaders.Name) -> Bool {
        headerNames.contains(name.rawValue)
    }

    /// Whether the value of an item of a query, a fragment or a form is replaced.
    public func isSecret(queryItem name: String) -> Bool {
        queryItemNames.contains(name) || bodyFieldNames.contains(name)
    }

    /// Whether the value of a field of a JSON or XML body is replaced.
    public func isSecret(field name: String) -> Bool {
        bodyFieldNames.contains(name)
    }
}
