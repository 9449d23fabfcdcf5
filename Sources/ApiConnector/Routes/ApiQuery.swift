// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The query of a route: items, or a value that is encoded as items.
///
/// A router needs no `try`, even if the value does not encode. The route's URL then has no query, and a connection
/// refuses the route with kind `.encodingFailed`.
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
    /// The error is stored indirectly, because it is large and every URL has a query.
    private enum Content {
        case items([URLQueryItem])
        indirect case dated([URLQueryItem], [FormItem])
        indirect case encoded(String)
        indirect case failed(ApiConnectorError)
    }

    private let content: Content

    /// Makes a query from items.
    public init(_ items: [URLQueryItem]) {
        content = .items(items)
    }

    /// Makes a query from percent-encoded text without the question mark.
    ///
    /// Use it if a server needs delimiters unencoded, such as the comma in `ids=1,2`. In the value of an item, a comma
    /// is encoded. Characters that queries cannot have, including `#`, and a `%` that does not start an escape are
    /// still encoded.
    public init(alreadyEncoded text: String) {
        content = text.isEmpty ? .items([]) : .encoded(PercentEncoding.complete(text, keeping: .queryText))
    }

    init(error: ApiConnectorError) {
        content = .failed(error)
    }

    /// The names and values, in order; empty for a value that does not encode.
    public var items: [URLQueryItem] {
        switch content {
        case .items(let items), .dated(let items, _): items
        case .encoded(let text): Self.items(of: text)
        case .failed: []
        }
    }

    /// The query for the URL.
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

    /// The same query with its dates written by an encoder.
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

    /// Why the value does not encode; nil if it does.
    public var error: ApiConnectorError? {
        if case .failed(let error) = content { error } else { nil }
    }

    /// An empty query, without `?`.
    public static let empty = ApiQuery([])

    /// Encodes a value's parts as items immediately, in the style of a ``FormEncoding``.
    ///
    /// A nil value gives no items and no `?`. Dates are written as in the connection's JSON. ``items`` and
    /// ``ApiRouter/url(for:)`` have no connection and write dates in ISO 8601.
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
    /// Makes a query from items.
    public init(arrayLiteral items: URLQueryItem...) {
        self.init(items)
    }

    /// Makes a query from names and values, in the order of the literal; names can repeat.
    ///
    /// An item with a nil value is left out. For an item that is only a name, such as `?draft`, use a `URLQueryItem`.
    public init(dictionaryLiteral items: (String, (any ApiQueryValue)?)...) {
        let items = items.filter { $0.1 != nil }
        // A comparison of types, because a cast would take as long as all other steps for an item.
        let isDated = items.contains { item in item.1.map { type(of: $0) == Date.self } ?? false }
        self.init(
            items.map { URLQueryItem(name: $0.0, value: $0.1?.queryText) },
            isDated ? items.map { FormItem(name: $0.0, value: $0.1) } : []
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
    /// The date in ISO 8601; a connection writes the date with its own encoder instead.
    public var queryText: String { InternetDate.text(self) ?? formatted(.iso8601) }
}

extension ApiQuery: ApiQueryConvertible {
    /// The query itself.
    @inlinable public var apiQuery: ApiQuery { self }
}

extension Dictionary: ApiQueryConvertible where Key == String, Value == String {
    /// The names and values, sorted by name.
    public var apiQuery: ApiQuery {
        ApiQuery(sorted { $0.key < $1.key }.map { URLQueryItem(name: $0.key, value: $0.value) })
    }
}

extension Array: ApiQueryConvertible where Element == URLQueryItem {
    /// The items as a query.
    @inlinable public var apiQuery: ApiQuery { ApiQuery(self) }
}

extension Optional: ApiQueryConvertible where Wrapped: ApiQueryConvertible {
    /// The query; empty for nil.
    @inlinable public var apiQuery: ApiQuery { self?.apiQuery ?? .empty }
}

/// A type that a router can use for its query: ``ApiQuery``, `[URLQueryItem]` or `[String: String]`, optional or not.
public protocol ApiQueryConvertible {
    /// The query.
    var apiQuery: ApiQuery { get }
}

/// A value in a query literal: strings, numbers, Booleans, dates and UUIDs, and your own types.
public protocol ApiQueryValue {
    /// The text of the value, not encoded; the description by default.
    var queryText: String { get }
}

extension ApiQueryValue where Self: CustomStringConvertible {
    /// The description.
    public var queryText: String { description }
}
