// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A route's query: items, or a value that is written as items.
///
/// A value that does not encode is no trap and no `try` in the router: the route's URL then has no query, and a
/// connection refuses it with kind `.encodingFailed`, as it refuses any other route that must not be sent.
///
/// ```swift
/// var queryItems: ApiQuery {
///     switch self {
///     case .search(let filter): .encoding(filter)
///     case .posts(let day): ["date": day]
///     case .me: .empty
///     }
/// }
/// ```
public struct ApiQuery: Sendable {
    /// The error stands apart: it is large, and a query is made for every URL.
    private enum Content {
        case items([URLQueryItem])
        indirect case dated([URLQueryItem], [FormItem])
        indirect case encoded(String)
        indirect case failed(ApiConnectorError)
    }

    private let content: Content

    /// Makes a query of items.
    public init(_ items: [URLQueryItem]) {
        content = .items(items)
    }

    /// Takes a query that is percent-encoded already, without the question mark.
    ///
    /// It is for delimiters that a server wants as they are, such as the comma in `ids=1,2`: an item's value has its
    /// comma encoded. Characters that no query may hold, `#` among them, and a `%` that starts no escape are encoded
    /// after all.
    public init(alreadyEncoded text: String) {
        content = text.isEmpty ? .items([]) : .encoded(PercentEncoding.complete(text, keeping: .queryText))
    }

    init(error: ApiConnectorError) {
        content = .failed(error)
    }

    /// The names and values, in order; none for a value that does not encode.
    public var items: [URLQueryItem] {
        switch content {
        case .items(let items), .dated(let items, _): items
        case .encoded(let text): Self.items(of: text)
        case .failed: []
        }
    }

    /// What the URL gets.
    var urlQuery: URLText.Query {
        if case .encoded(let text) = content { .encoded(text) } else { .items(items) }
    }

    private static func items(of text: String) -> [URLQueryItem] {
        text.split(separator: "&").map { item in
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map {
                $0.removingPercentEncoding ?? String($0)
            }
            return URLQueryItem(name: parts[0], value: parts.count > 1 ? parts[1] : nil)
        }
    }

    /// Whether it has dates that the connection's encoder writes.
    var isDated: Bool { if case .dated = content { true } else { false } }

    /// The same query with its dates as an encoder writes them.
    func written(with encoder: JSONEncoder) -> ApiQuery {
        guard case .dated(_, let items) = content else { return self }
        do {
            return ApiQuery(try items.written(with: encoder))
        } catch {
            let detail = "the query does not encode: \(CodingText.describe(error))"
            return ApiQuery(error: ApiConnectorError(.encodingFailed, at: .url, detail, underlying: error))
        }
    }

    private init(_ items: [URLQueryItem], _ dated: [FormItem]) {
        content = dated.contains(where: \.isDated) ? .dated(items, dated) : .items(items)
    }

    /// Why the value does not encode; nil where all is well.
    public var error: ApiConnectorError? {
        if case .failed(let error) = content { error } else { nil }
    }

    /// No query, and no `?`.
    public static let empty = ApiQuery([])

    /// Writes a value's parts as items, at once; ``FormEncoding`` says how.
    ///
    /// A nil value has none, and so gives no `?`. Dates are written as in the connection's JSON; ``items`` and
    /// ``ApiRouter/url(for:)``, which know no connection, have them in ISO 8601.
    public static func encoding(_ value: some Encodable, as encoding: FormEncoding = .standard) -> ApiQuery {
        do throws(ApiConnectorError) {
            return try ApiConnectorError.inQuery(of: type(of: value)) {
                let items = try FormEncoder.items(of: value, as: encoding)
                return ApiQuery(try items.written(with: nil), items)
            }
        } catch {
            return ApiQuery(error: error)
        }
    }
}

extension ApiQuery: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    /// Makes a query of items.
    public init(arrayLiteral items: URLQueryItem...) {
        self.init(items)
    }

    /// Makes a query of names and values, in the order in which they are written; a name may repeat.
    ///
    /// A nil value makes an item without a value, its name alone. To leave such an item out, encode a value:
    /// ``encoding(_:as:)``.
    public init(dictionaryLiteral items: (String, (any ApiQueryValue)?)...) {
        self.init(
            items.map { URLQueryItem(name: $0.0, value: $0.1?.queryText) },
            items.contains { $0.1 is Date } ? items.map { FormItem(name: $0.0, value: $0.1) } : []
        )
    }
}

extension String: ApiQueryValue {
    /// The text itself.
    public var queryText: String { self }
}

extension Substring: ApiQueryValue {}
extension Bool: ApiQueryValue {}
extension Int: ApiQueryValue {}
extension Int64: ApiQueryValue {}
extension UInt: ApiQueryValue {}
extension Double: ApiQueryValue {}
extension UUID: ApiQueryValue {}

extension Date: ApiQueryValue {
    /// The date in ISO 8601; a connection writes it as its encoder does.
    public var queryText: String { formatted(.iso8601) }
}

extension ApiQuery: ApiQueryConvertible {
    /// The query itself.
    @inlinable public var apiQuery: ApiQuery { self }
}

extension Dictionary: ApiQueryConvertible where Key == String, Value == String {
    /// The names and values in the order of the names.
    public var apiQuery: ApiQuery {
        ApiQuery(sorted { $0.key < $1.key }.map { URLQueryItem(name: $0.key, value: $0.value) })
    }
}

extension Array: ApiQueryConvertible where Element == URLQueryItem {
    /// The items as a query.
    @inlinable public var apiQuery: ApiQuery { ApiQuery(self) }
}

extension Optional: ApiQueryConvertible where Wrapped: ApiQueryConvertible {
    /// The query; an empty one for nil.
    @inlinable public var apiQuery: ApiQuery { self?.apiQuery ?? .empty }
}
