// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The code that the generated routers and models share, as text; `<public>` stands for the access level.
enum SupportSource {
    static let routes = """
        /// The parts of one request.
        <public>nonisolated struct RouteParts: Sendable {
            fileprivate let method: HTTPMethod
            fileprivate let path: ApiPath
            fileprivate let query: ApiQuery
            fileprivate let headers: HTTPHeaders
            fileprivate let body: RequestBody
            let security: [SecurityScheme]?

            fileprivate init(
                _ method: HTTPMethod,
                _ path: ApiPath,
                _ query: [QueryPart],
                _ headers: [HeaderPart],
                _ body: RequestBody,
                _ security: [SecurityScheme]?
            ) {
                self.method = method
                self.path = path
                self.query = ApiQuery(query.flatMap(\\.items))
                var fields = HTTPHeaders()
                var cookies: [String] = []
                for part in headers {
                    guard let text = part.text else { continue }
                    if part.isCookie {
                        cookies.append("\\(part.name)=\\(text)")
                    } else {
                        fields.append(HTTPHeaders.Name(part.name), text)
                    }
                }
                if !cookies.isEmpty { fields.append(.cookie, cookies.joined(separator: "; ")) }
                self.headers = fields
                self.body = body
                self.security = security
            }
        }

        /// A way to show who sends a request, by its name in the document.
        <public>nonisolated struct SecurityScheme: Hashable, Sendable {
            let name: String

            init(_ name: String) {
                self.name = name
            }
        }

        /// A router whose values are requests of one tag of the document.
        <public>nonisolated protocol OperationRouter: ApiRouter
        where PathType == ApiPath, QueryType == ApiQuery, MethodType == HTTPMethod {
            /// The request.
            var parts: RouteParts { get }

            /// Makes a route of a request.
            init(parts: RouteParts)
        }

        nonisolated extension OperationRouter {
            init(
                _ method: HTTPMethod,
                _ path: ApiPath,
                query: [QueryPart] = [],
                headers: [HeaderPart] = [],
                body: RequestBody = .empty,
                security: [SecurityScheme]? = nil
            ) {
                self.init(parts: RouteParts(method, path, query, headers, body, security))
            }

            /// The path.
            <public>var path: ApiPath { parts.path }

            /// The query.
            <public>var queryItems: ApiQuery { parts.query }

            /// The method.
            <public>var method: HTTPMethod { parts.method }

            /// The header fields.
            <public>var headers: HTTPHeaders { parts.headers }

            /// What is sent.
            <public>var body: RequestBody { parts.body }
        }

        nonisolated extension ApiCall where Router: OperationRouter {
            init(
                _ method: HTTPMethod,
                _ path: ApiPath,
                query: [QueryPart] = [],
                headers: [HeaderPart] = [],
                body: RequestBody = .empty,
                security: [SecurityScheme]? = nil
            ) {
                self.init(Router(parts: RouteParts(method, path, query, headers, body, security)))
            }
        }

        nonisolated extension NextPage where Router: OperationRouter {
            /// The page whose query has the cursor that a closure takes from a page; nil ends the list.
            <public>static func cursor(
                _ name: String,
                _ cursor: @escaping @Sendable (DecodedResponse<Page>) -> String?
            ) -> NextPage {
                url { page in
                    guard let next = cursor(page), !next.isEmpty,
                        var url = URLComponents(url: page.url, resolvingAgainstBaseURL: true)
                    else { return nil }
                    let others = (url.queryItems ?? []).filter { $0.name != name }
                    url.queryItems = others + [URLQueryItem(name: name, value: next)]
                    return url.url
                }
            }
        }
        """

    static let parameters = """
        /// What a parameter's value is written as.
        <public>nonisolated indirect enum ParameterText: Sendable {
            /// One text.
            case text(String)
            /// Several values.
            case list([ParameterText])
            /// Values with names.
            case members([(key: String, value: ParameterText)])

            /// The texts of a list; the names and values of an object one after the other.
            fileprivate var flat: [String] {
                switch self {
                case .text(let text): [text]
                case .list(let values): values.flatMap(\\.flat)
                case .members(let members): members.flatMap { [$0.key] + $0.value.flat }
                }
            }

            fileprivate var pairs: [(key: String, text: String)]? {
                guard case .members(let members) = self else { return nil }
                return members.map { ($0.key, $0.value.flat.joined(separator: ",")) }
            }
        }

        /// A value that can be a parameter.
        <public>nonisolated protocol ParameterValue {
            /// What the value is written as.
            var parameterText: ParameterText { get }
        }

        nonisolated extension ParameterValue where Self: Encodable {
            /// What JSON makes of the value.
            <public>var parameterText: ParameterText {
                let data = (try? JSONEncoder().encode(self)) ?? Data()
                return (try? JSONDecoder().decode(JSONValue.self, from: data))?.parameterText ?? .text("")
            }
        }

        nonisolated extension ParameterValue where Self: CustomStringConvertible {
            /// The description.
            <public>var parameterText: ParameterText { .text(description) }
        }

        nonisolated extension ParameterValue where Self: CustomStringConvertible, Self: Encodable {
            /// The description.
            <public>var parameterText: ParameterText { .text(description) }
        }

        nonisolated extension String: ParameterValue {}
        nonisolated extension Bool: ParameterValue {}
        nonisolated extension Int: ParameterValue {}
        nonisolated extension Int32: ParameterValue {}
        nonisolated extension Int64: ParameterValue {}
        nonisolated extension Double: ParameterValue {}
        nonisolated extension Decimal: ParameterValue {}

        nonisolated extension UUID: ParameterValue {
            /// The UUID as RFC 9562 writes it.
            <public>var parameterText: ParameterText { .text(uuidString.lowercased()) }
        }

        nonisolated extension URL: ParameterValue {
            /// The whole URL.
            <public>var parameterText: ParameterText { .text(absoluteString) }
        }

        nonisolated extension Data: ParameterValue {
            /// Base64.
            <public>var parameterText: ParameterText { .text(base64EncodedString()) }
        }

        nonisolated extension Date: ParameterValue {
            /// The date as RFC 3339 writes it.
            <public>var parameterText: ParameterText { .text(DateTime(self).description) }
        }

        nonisolated extension Optional: ParameterValue where Wrapped: ParameterValue {
            /// The value; an empty text for nil.
            <public>var parameterText: ParameterText { self?.parameterText ?? .text("") }
        }

        nonisolated extension Array: ParameterValue where Element: ParameterValue {
            /// The elements in order.
            <public>var parameterText: ParameterText { .list(map(\\.parameterText)) }
        }

        nonisolated extension Dictionary: ParameterValue where Key == String, Value: ParameterValue {
            /// The values in the order of their names.
            <public>var parameterText: ParameterText {
                .members(sorted { $0.key < $1.key }.map { ($0.key, $0.value.parameterText) })
            }
        }

        nonisolated extension JSONValue: ParameterValue {
            /// The value without quotes, and an empty text for null.
            <public>var parameterText: ParameterText {
                switch self {
                case .null: .text("")
                case .string(let text): .text(text)
                case .array(let values): values.parameterText
                case .object(let values): values.parameterText
                case .bool, .number: .text(description)
                }
            }
        }

        /// A part of a query.
        <public>nonisolated struct QueryPart: Sendable {
            fileprivate let items: [URLQueryItem]

            private init(_ items: [(String, String)]) {
                self.items = items.map { URLQueryItem(name: $0.0, value: $0.1) }
            }

            /// `a=1&a=2`, and each member of an object by its own name.
            static func form(_ name: String, _ value: (some ParameterValue)?) -> QueryPart {
                switch value?.parameterText {
                case nil: QueryPart([])
                case .text(let text): QueryPart([(name, text)])
                case .list(let values): QueryPart(values.flatMap(\\.flat).map { (name, $0) })
                case let value?: QueryPart((value.pairs ?? []).map { ($0.key, $0.text) })
                }
            }

            /// `a=1,2`, or with another text between.
            static func joined(_ name: String, _ value: (some ParameterValue)?, by separator: String = ",") -> QueryPart {
                guard let value else { return QueryPart([]) }
                return QueryPart([(name, value.parameterText.flat.joined(separator: separator))])
            }

            /// `a[b]=1`.
            static func deep(_ name: String, _ value: (some ParameterValue)?) -> QueryPart {
                guard let value else { return QueryPart([]) }
                return QueryPart(items(name, value.parameterText))
            }

            private static func items(_ name: String, _ value: ParameterText) -> [(String, String)] {
                switch value {
                case .text(let text): [(name, text)]
                case .list(let values): values.flatMap { items(name, $0) }
                case .members(let members): members.flatMap { items("\\(name)[\\($0.key)]", $0.value) }
                }
            }

            /// `a={"b":1}`.
            static func json(_ name: String, _ value: (some Encodable)?) -> QueryPart {
                guard let value else { return QueryPart([]) }
                let encoder = JSONEncoder()
                encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
                let text = (try? encoder.encode(value)).map { String(decoding: $0, as: UTF8.self) }
                return QueryPart([(name, text ?? "")])
            }
        }

        /// A header field or a cookie.
        <public>nonisolated struct HeaderPart: Sendable {
            fileprivate let name: String
            fileprivate let text: String?
            fileprivate let isCookie: Bool

            /// A header field, its values with commas between; none for nil.
            static func field(_ name: String, _ value: (some ParameterValue)?, explode: Bool = false) -> HeaderPart {
                HeaderPart(name: name, text: value?.parameterText.simple(explode: explode), isCookie: false)
            }

            /// A cookie; none for nil.
            static func cookie(_ name: String, _ value: (some ParameterValue)?) -> HeaderPart {
                HeaderPart(name: name, text: value?.parameterText.simple(explode: false), isCookie: true)
            }
        }

        nonisolated extension ParameterText {
            fileprivate func simple(explode: Bool) -> String {
                guard explode, let pairs else { return flat.joined(separator: ",") }
                return pairs.map { "\\($0.key)=\\($0.text)" }.joined(separator: ",")
            }
        }

        nonisolated extension ApiPath.StringInterpolation {
            /// `1,2`, as RFC 6570 expands `{a}`.
            mutating func appendInterpolation(simple value: some ParameterValue, explode: Bool = false) {
                append(value.parameterText, start: "", separator: ",", name: nil, explode)
            }

            /// `.1.2`, as RFC 6570 expands `{.a*}`.
            mutating func appendInterpolation(label value: some ParameterValue, explode: Bool = false) {
                append(value.parameterText, start: ".", separator: explode ? "." : ",", name: nil, explode)
            }

            /// `;a=1;a=2`, as RFC 6570 expands `{;a*}`.
            mutating func appendInterpolation(matrix value: some ParameterValue, _ name: String, explode: Bool = false) {
                append(value.parameterText, start: ";", separator: explode ? ";" : ",", name: name, explode)
            }

            private mutating func append(
                _ value: ParameterText,
                start: String,
                separator: String,
                name: String?,
                _ explode: Bool
            ) {
                func encoded(_ text: String) -> String { ApiPath(segment: text).description.dropFirst().description }
                let pairs = explode ? value.pairs : nil
                var texts = pairs?.map { "\\(encoded($0.key))=\\(encoded($0.text))" } ?? value.flat.map(encoded)
                if let name, pairs == nil {
                    let prefix = encoded(name) + "="
                    if explode {
                        texts = texts.map { prefix + $0 }
                    } else {
                        texts = [prefix + texts.joined(separator: separator)]
                    }
                }
                let text = start + texts.joined(separator: separator)
                appendInterpolation(ApiPath(alreadyEncoded: text))
            }
        }
        """
}
