// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Replaces secrets in errors, logs, cURL commands and recordings.
///
/// It recognizes secrets by the names of header fields, query items and body fields, anywhere in a text. It also
/// recognizes user info in URLs, `Bearer …` and `Basic …`, JSON web tokens, and private keys in PEM format. Names are
/// compared without case and separators: `access_token`, `accessToken` and `Access-Token` are equal. If a name or the
/// end of a value is unclear, the redactor replaces more rather than less.
///
/// A header field is secret if a word of its name says so, such as `key`, `auth`, `token` or `license`, or if it is one
/// of the known fields without such a word, such as `X-Honeycomb-Team`. A number or a version at the end of a name does
/// not matter: `X-Token2` is secret like `X-Token`. A name that ends with `keys` is treated like its singular:
/// `access_keys` like `access_key`. A field under any name is a credential for redirects and caches if its whole value
/// has the form of one, such as `Bearer …`. Texts are redacted by more rules.
///
/// In the response to a credential refresh, and to a request with a `grant_type`, each string in JSON is secret whose
/// name is not known to be harmless, such as `scope`.
///
/// ``ApiRequest/redactor(from:includingValues:)`` makes a redactor that also knows the secrets of one request, and
/// replaces them where a server quotes them.
///
/// A redactor accepts any input and takes linear time.
public struct Redactor: Sendable, Hashable {
    /// The replacement of a secret.
    public static let replacement = "REDACTED"

    /// The redactor for all texts of the library.
    public static let standard = Redactor()

    private var headerNames: SecretNames
    private var queryItemNames: SecretNames
    private var bodyFieldNames: SecretNames
    /// Secrets that are replaced wherever they occur; nil if there are none.
    var values: SecretValues?
    /// Whether the redactor is for a request that asks for tokens, and for its response.
    ///
    /// In their JSON, each string is secret whose name is not known to be harmless, and so are bodies of one word.
    private(set) var isForTokens = false

    /// Makes a redactor that knows more names than ``standard``.
    ///
    /// - Parameters:
    ///   - headerNames: Names of header fields; none by default.
    ///   - queryItemNames: Names of items in a URL's query or fragment, or in a form; none by default.
    ///   - bodyFieldNames: Names of fields in JSON, forms and XML at any depth; none by default.
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

    /// Treats the names of a token endpoint's response as secret, even if no word tells.
    mutating func expectTokens() {
        isForTokens = true
        bodyFieldNames.add(Array(SecretNames.pairedTokenNames))
    }

    /// Whether the value of a header field is secret.
    public func isSecret(header name: HTTPHeaders.Name) -> Bool {
        headerNames.contains(name.rawValue)
    }

    /// Whether the value of an item in a query, a fragment or a form is secret.
    public func isSecret(queryItem name: String) -> Bool {
        queryItemNames.contains(name) || bodyFieldNames.lists(name)
    }

    /// Whether the value of a field in JSON or XML is secret.
    public func isSecret(field name: String) -> Bool {
        bodyFieldNames.contains(name)
    }

    /// Whether a name in a text is that of a secret header field, but not of a secret field in a body.
    func isSecret(headerInText name: String) -> Bool {
        headerNames.containsHeader(name)
    }
}
