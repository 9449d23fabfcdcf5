// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// The parts of one request to an operation of a document.
///
/// Parameters are written in the style that the document gives them, as RFC 6570 and OpenAPI describe it. If a value
/// does not encode, the call is not sent, and fails with ``/ApiConnector/ApiConnectorError`` of kind `.encodingFailed`.
public struct RouteParts: Sendable {
    let method: HTTPMethod
    let path: ApiPath
    let query: ApiQuery
    let headers: HTTPHeaders
    let body: RequestBody
    let security: [[String]]?

    init(
        _ method: HTTPMethod,
        _ path: Path,
        _ query: [QueryParameter],
        _ headers: [HeaderParameter],
        _ body: RequestBody,
        _ security: [[String]]?
    ) {
        self.method = method
        self.path = path.path
        let failure = path.failure ?? query.compactMap(\.failure).first ?? headers.compactMap(\.failure).first
        // A connection refuses a route whose query does not encode, with the error of the value.
        self.query = failure.map { ApiQuery.encoding($0) } ?? QueryParameter.joined(query)
        var fields = HTTPHeaders()
        let cookies = headers.flatMap(\.cookies)
        for parameter in headers {
            if let text = parameter.text { fields.append(HTTPHeaders.Name(parameter.name), text) }
        }
        if !cookies.isEmpty { fields.append(.cookie, cookies.joined(separator: "; ")) }
        self.headers = fields
        self.body = body
        self.security = security
    }
}

// MARK: - Path

extension RouteParts {
    /// A path, written as a literal, with values in the styles of path parameters.
    ///
    /// - `"/pets/\(id)"`: one value, percent-encoded as one segment
    /// - `"/pets/\(simple: ids)"`: `/pets/1,2`
    /// - `"/pets/\(label: ids)"`: `/pets/.1,2`
    /// - `"/pets/\(matrix: ids, "id")"`: `/pets/;id=1,2`
    /// - `"/pets/\(json: filter)"`: JSON, percent-encoded as one segment
    public struct Path: ExpressibleByStringInterpolation, Sendable {
        fileprivate let path: ApiPath
        fileprivate let failure: UnencodableParameter?

        /// A path without values.
        public init(stringLiteral text: String) {
            path = ApiPath(stringLiteral: text)
            failure = nil
        }

        /// A path with values.
        public init(stringInterpolation literal: StringInterpolation) {
            path = ApiPath(stringInterpolation: literal.path)
            failure = literal.failure
        }

        /// Collects the text and the values of a literal.
        public struct StringInterpolation: StringInterpolationProtocol {
            fileprivate var path: ApiPath.StringInterpolation
            fileprivate var failure: UnencodableParameter?

            /// Starts an empty path.
            public init(literalCapacity: Int, interpolationCount: Int) {
                path = .init(literalCapacity: literalCapacity, interpolationCount: interpolationCount)
            }

            /// Adds text, which is not yet percent-encoded, with its slashes.
            public mutating func appendLiteral(_ literal: String) { path.appendLiteral(literal) }
        }
    }
}

extension RouteParts.Path.StringInterpolation {
    /// Adds a path, with its slashes.
    public mutating func appendInterpolation(_ other: ApiPath) { path.appendInterpolation(other) }

    /// Adds a value within one segment.
    public mutating func appendInterpolation(_ value: some ParameterValue) {
        if case .text(let text) = value.parameterText {
            path.appendInterpolation(text)
        } else {
            appendInterpolation(simple: value)
        }
    }

    /// Adds JSON as one segment.
    public mutating func appendInterpolation(json value: some Encodable) {
        appendInterpolation(simple: ParameterText(json: value))
    }

    /// Adds `1,2`, as RFC 6570 expands `{a}`.
    public mutating func appendInterpolation(simple value: some ParameterValue, explode: Bool = false) {
        append(value.parameterText, start: "", separator: ",", name: nil, explode)
    }

    /// Adds `.1.2`, as RFC 6570 expands `{.a*}`.
    public mutating func appendInterpolation(label value: some ParameterValue, explode: Bool = false) {
        append(value.parameterText, start: ".", separator: explode ? "." : ",", name: nil, explode)
    }

    /// Adds `;a=1;a=2`, as RFC 6570 expands `{;a*}`.
    public mutating func appendInterpolation(matrix value: some ParameterValue, _ key: String, explode: Bool = false) {
        append(value.parameterText, start: ";", separator: explode ? ";" : ",", name: key, explode)
    }

    private mutating func append(
        _ value: ParameterText,
        start: String,
        separator: String,
        name: String?,
        _ explode: Bool
    ) {
        if let error = value.failure {
            failure = failure ?? error.named("a value in its path")
            // The route's URL is never requested. An empty value would be refused as such.
            path.appendInterpolation("{}")
            return
        }
        let pairs = explode ? value.pairs : nil
        var texts =
            pairs?.map { "\(percentEncoded($0.key))=\(percentEncoded($0.text))" }
            ?? value.flat.map(percentEncoded)
        if let name, pairs == nil {
            let prefix = percentEncoded(name) + "="
            if explode {
                texts = texts.map { prefix + $0 }
            } else {
                texts = [prefix + texts.joined(separator: separator)]
            }
        }
        let text = start + texts.joined(separator: separator)
        // An empty text is refused as a value, because the path would name another resource.
        if text.isEmpty {
            path.appendInterpolation("")
        } else {
            path.appendInterpolation(ApiPath(alreadyEncoded: text))
        }
    }
}

// MARK: - Query

extension RouteParts {
    /// A parameter in the query; without items if its value is nil.
    public struct QueryParameter: Sendable {
        private var items: [(name: String, value: String)] = []

        /// The items as they are in the URL, if a delimiter is not encoded; nil if `items` is enough.
        private var encoded: String?

        fileprivate var failure: UnencodableParameter?

        private init(_ items: [(String, String)]) {
            self.items = items.map { (name: $0.0, value: $0.1) }
        }

        private init(encoded: String) {
            self.encoded = encoded
        }

        /// The parameter that `make` returns for the value's text; without items for nil.
        private init(_ name: String?, _ value: (some ParameterValue)?, _ make: (ParameterText) -> QueryParameter) {
            guard let text = value?.parameterText else { return }
            self = make(text)
            failure = text.failure?.named(name.map { "the value of its query item \($0)" } ?? "its query")
        }

        /// `a=1&a=2`; an object has one item per member.
        public static func form(_ name: String, _ value: (some ParameterValue)?) -> QueryParameter {
            QueryParameter(name, value) { text in
                switch text {
                case .text(let text): QueryParameter([(name, text)])
                case .list(let values): QueryParameter(values.flatMap(\.flat).map { (name, $0) })
                case .members, .unencodable: QueryParameter((text.pairs ?? []).map { ($0.key, $0.text) })
                }
            }
        }

        /// The members of an object, as a form has them: `b=1&b=2`.
        public static func fields(_ name: String, _ value: (some ParameterValue)?) -> QueryParameter {
            QueryParameter(name, value) { text in
                guard case .members(let members) = text else { return form(name, text) }
                return QueryParameter(members.flatMap { items($0.key, $0.value) })
            }
        }

        /// `a=1,2`, or with another delimiter; without items if there are no values.
        public static func joined(
            _ name: String,
            _ value: (some ParameterValue)?,
            by mark: String = ","
        ) -> QueryParameter {
            QueryParameter(name, value) { text in
                let texts = text.flat
                guard texts.count > 1 else { return QueryParameter(texts.map { (name, $0) }) }
                // A comma stays as it is; a space and a bar cannot.
                let delimiter = mark == "," ? mark : percentEncoded(mark)
                let list = texts.map(percentEncoded).joined(separator: delimiter)
                return QueryParameter(encoded: percentEncoded(name) + "=" + list)
            }
        }

        /// `a[b]=1`.
        public static func deep(_ name: String, _ value: (some ParameterValue)?) -> QueryParameter {
            QueryParameter(name, value) { text in QueryParameter(items(name, text)) }
        }

        /// `a={"b":1}`.
        public static func json(_ name: String, _ value: (some Encodable)?) -> QueryParameter {
            form(name, value.map { ParameterText(json: $0) })
        }

        /// JSON as the whole query.
        public static func whole(_ value: (some Encodable)?) -> QueryParameter {
            QueryParameter(nil, value.map { ParameterText(json: $0) }) { text in
                QueryParameter(encoded: text.flat.map(percentEncoded).joined())
            }
        }

        private static func items(_ name: String, _ value: ParameterText) -> [(String, String)] {
            switch value {
            case .text(let text): [(name, text)]
            case .list(let values): values.flatMap { items(name, $0) }
            case .members(let members): members.flatMap { items("\(name)[\($0.key)]", $0.value) }
            case .unencodable: []
            }
        }

        fileprivate static func joined(_ parameters: [QueryParameter]) -> ApiQuery {
            guard parameters.contains(where: { $0.encoded != nil }) else {
                return ApiQuery(parameters.flatMap(\.items).map { URLQueryItem(name: $0.name, value: $0.value) })
            }
            let texts = parameters.flatMap { parameter in
                parameter.encoded.map { [$0] }
                    ?? parameter.items.map { percentEncoded($0.name) + "=" + percentEncoded($0.value) }
            }
            return ApiQuery(alreadyEncoded: texts.joined(separator: "&"))
        }
    }
}

// MARK: - Header fields and cookies

extension RouteParts {
    /// A parameter in a header field or in cookies; without a field if its value is nil.
    public struct HeaderParameter: Sendable {
        fileprivate var name = ""
        fileprivate var text: String?
        fileprivate var cookies: [String] = []
        fileprivate var failure: UnencodableParameter?

        /// A header field with comma-separated values.
        public static func field(
            _ name: String,
            _ value: (some ParameterValue)?,
            explode: Bool = false
        ) -> HeaderParameter {
            let value = value?.parameterText
            let pairs = explode ? value?.pairs : nil
            return HeaderParameter(
                name: name,
                text: pairs?.map { "\($0.key)=\($0.text)" }.joined(separator: ",")
                    ?? value?.flat.joined(separator: ","),
                failure: value?.failure?.named("the value of its header field \(name)")
            )
        }

        /// A header field with JSON.
        public static func field(_ name: String, json value: (some Encodable)?) -> HeaderParameter {
            field(name, value.map { ParameterText(json: $0) })
        }

        /// One cookie, or one per value.
        ///
        /// Percent-encodes characters that a cookie cannot hold, unless the value is already encoded.
        public static func cookie(
            _ name: String,
            _ value: (some ParameterValue)?,
            explode: Bool = false,
            isEncoded: Bool = false
        ) -> HeaderParameter {
            guard let value = value?.parameterText else { return HeaderParameter() }
            if let failure = value.failure {
                return HeaderParameter(failure: failure.named("the value of its cookie \(name)"))
            }
            func written(_ text: String) -> String { isEncoded ? text : cookieText(text) }
            if explode, let pairs = value.pairs {
                return HeaderParameter(cookies: pairs.map { "\(cookieText($0.key))=\(written($0.text))" })
            }
            let texts = value.flat.map(written)
            if explode { return HeaderParameter(cookies: texts.map { "\(name)=\($0)" }) }
            return HeaderParameter(cookies: ["\(name)=" + texts.joined(separator: ",")])
        }

        /// A cookie with JSON.
        public static func cookie(_ name: String, json value: (some Encodable)?) -> HeaderParameter {
            cookie(name, value.map { ParameterText(json: $0) })
        }

        /// Percent-encodes each byte that is not a cookie-octet of RFC 6265.
        private static func cookieText(_ text: String) -> String {
            text.unicodeScalars.map { scalar in
                let isKept = 0x21..<0x7F ~= scalar.value && !"\",;\\".unicodeScalars.contains(scalar)
                return isKept ? String(scalar) : percentEncoded(String(scalar))
            }.joined()
        }
    }
}
