// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension SupportSource {
    static let parameters = """
        /// A parameter's value as text.
        <public>nonisolated indirect enum ParameterText: Sendable {
            /// One text.
            case text(String)
            /// Several values.
            case list([ParameterText])
            /// Values with names.
            case members([(key: String, value: ParameterText)])
            /// A value that does not encode.
            case unencodable(UnencodableParameter)

            /// A value as JSON.
            fileprivate init(json value: some Encodable) {
                let encoder = JSONEncoder()
                encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
                do {
                    self = .text(String(decoding: try encoder.encode(value), as: UTF8.self))
                } catch {
                    self = .unencodable(UnencodableParameter(error: error))
                }
            }

            /// The first value that does not encode.
            fileprivate var failure: UnencodableParameter? {
                switch self {
                case .text: nil
                case .list(let values): values.compactMap(\\.failure).first
                case .members(let members): members.compactMap { $0.value.failure }.first
                case .unencodable(let value): value
                }
            }

            /// The texts of a list, or the names and values of an object in turn.
            fileprivate var flat: [String] {
                switch self {
                case .text(let text): [text]
                case .list(let values): values.flatMap(\\.flat)
                case .members(let members): members.flatMap { [$0.key] + $0.value.flat }
                case .unencodable: []
                }
            }

            fileprivate var pairs: [(key: String, text: String)]? {
                guard case .members(let members) = self else { return nil }
                return members.map { ($0.key, $0.value.flat.joined(separator: ",")) }
            }

            /// The objects of a list, each as JSON.
            <shared>static func json(_ values: [some Encodable]?) -> [ParameterText]? {
                values?.map { ParameterText(json: $0) }
            }
        }

        /// Fails a call with the error of a parameter that does not encode.
        <public>nonisolated struct UnencodableParameter: Encodable, Sendable {
            let error: any Error

            /// Throws the error.
            <public>func encode(to encoder: any Encoder) throws { throw error }

            /// The same failure with an error that names the parameter.
            fileprivate func named(_ parameter: String) -> UnencodableParameter {
                var cause = ApiConnectorError(mapping: error).detail
                if case EncodingError.invalidValue(let value, let context) = error {
                    // The value may be a secret.
                    cause = "a value of type \\(type(of: value)): \\(context.debugDescription)"
                }
                if cause.hasSuffix(".") { cause.removeLast() }
                let detail = "\\(parameter) does not encode: \\(cause)"
                return UnencodableParameter(
                    error: ApiConnectorError(.encodingFailed, at: .url, detail, underlying: error)
                )
            }
        }

        /// A value that can be a parameter.
        <public>nonisolated protocol ParameterValue {
            /// The value as text.
            var parameterText: ParameterText { get }
        }

        nonisolated extension ParameterValue where Self: Encodable {
            /// The value as JSON encodes it.
            <public>var parameterText: ParameterText {
                do {
                    let data = try JSONEncoder().encode(self)
                    return try JSONDecoder().decode(JSONValue.self, from: data).parameterText
                } catch {
                    return .unencodable(UnencodableParameter(error: error))
                }
            }
        }

        nonisolated extension ParameterText: ParameterValue {
            /// The text itself.
            <public>var parameterText: ParameterText { self }
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
        nonisolated extension UInt64: ParameterValue {}
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
            private var items: [(name: String, value: String)] = []

            /// The part as it is in the URL, if a delimiter is not encoded; nil if `items` is enough.
            private var encoded: String?

            fileprivate var failure: UnencodableParameter?

            private init(_ items: [(String, String)]) {
                self.items = items.map { (name: $0.0, value: $0.1) }
            }

            private init(encoded: String) {
                self.encoded = encoded
            }

            /// The part that `make` returns for the value's text; empty for nil.
            private init(_ name: String?, _ value: (some ParameterValue)?, _ make: (ParameterText) -> QueryPart) {
                guard let text = value?.parameterText else { return }
                self = make(text)
                failure = text.failure?.named(name.map { "the value of its query item \\($0)" } ?? "its query")
            }

            /// `a=1&a=2`; an object has one item per member.
            <shared>static func form(_ name: String, _ value: (some ParameterValue)?) -> QueryPart {
                QueryPart(name, value) { text in
                    switch text {
                    case .text(let text): QueryPart([(name, text)])
                    case .list(let values): QueryPart(values.flatMap(\\.flat).map { (name, $0) })
                    case .members, .unencodable: QueryPart((text.pairs ?? []).map { ($0.key, $0.text) })
                    }
                }
            }

            /// The members of an object, as a form has them: `b=1&b=2`.
            <shared>static func fields(_ name: String, _ value: (some ParameterValue)?) -> QueryPart {
                QueryPart(name, value) { text in
                    guard case .members(let members) = text else { return form(name, text) }
                    return QueryPart(members.flatMap { items($0.key, $0.value) })
                }
            }

            /// `a=1,2`, or with another delimiter; empty without values.
            <shared>static func joined(_ name: String, _ value: (some ParameterValue)?, by mark: String = ",") -> QueryPart {
                QueryPart(name, value) { text in
                    let texts = text.flat
                    guard texts.count > 1 else { return QueryPart(texts.map { (name, $0) }) }
                    // A comma stays as it is; a space and a bar cannot.
                    let delimiter = mark == "," ? mark : percentEncoded(mark)
                    let list = texts.map(percentEncoded).joined(separator: delimiter)
                    return QueryPart(encoded: percentEncoded(name) + "=" + list)
                }
            }

            /// `a[b]=1`.
            <shared>static func deep(_ name: String, _ value: (some ParameterValue)?) -> QueryPart {
                QueryPart(name, value) { text in QueryPart(items(name, text)) }
            }

            private static func items(_ name: String, _ value: ParameterText) -> [(String, String)] {
                switch value {
                case .text(let text): [(name, text)]
                case .list(let values): values.flatMap { items(name, $0) }
                case .members(let members): members.flatMap { items("\\(name)[\\($0.key)]", $0.value) }
                case .unencodable: []
                }
            }

            /// `a={"b":1}`.
            <shared>static func json(_ name: String, _ value: (some Encodable)?) -> QueryPart {
                form(name, value.map { ParameterText(json: $0) })
            }

            /// JSON as the whole query.
            <shared>static func whole(_ value: (some Encodable)?) -> QueryPart {
                QueryPart(nil, value.map { ParameterText(json: $0) }) { text in
                    QueryPart(encoded: text.flat.map(percentEncoded).joined())
                }
            }

            fileprivate static func joined(_ parts: [QueryPart]) -> ApiQuery {
                guard parts.contains(where: { $0.encoded != nil }) else {
                    return ApiQuery(parts.flatMap(\\.items).map { URLQueryItem(name: $0.name, value: $0.value) })
                }
                let texts = parts.flatMap { part in
                    part.encoded.map { [$0] }
                        ?? part.items.map { percentEncoded($0.name) + "=" + percentEncoded($0.value) }
                }
                return ApiQuery(alreadyEncoded: texts.joined(separator: "&"))
            }
        }

        /// A text as one part of a URL.
        private nonisolated func percentEncoded(_ text: String) -> String {
            ApiPath(segment: text).description.dropFirst().description
        }

        /// A header field or a cookie.
        <public>nonisolated struct HeaderPart: Sendable {
            fileprivate var name = ""
            fileprivate var text: String?
            fileprivate var cookies: [String] = []
            fileprivate var failure: UnencodableParameter?

            /// A header field with comma-separated values; empty for nil.
            <shared>static func field(_ name: String, _ value: (some ParameterValue)?, explode: Bool = false) -> HeaderPart {
                let value = value?.parameterText
                let failure = value?.failure?.named("the value of its header field \\(name)")
                return HeaderPart(name: name, text: value?.simple(explode: explode), failure: failure)
            }

            /// A header field with JSON; empty for nil.
            <shared>static func field(_ name: String, json value: (some Encodable)?) -> HeaderPart {
                field(name, value.map { ParameterText(json: $0) })
            }

            /// One cookie, or one per value; empty for nil.
            ///
            /// Percent-encodes characters that a cookie cannot hold, unless the value is already encoded.
            <shared>static func cookie(
                _ name: String,
                _ value: (some ParameterValue)?,
                explode: Bool = false,
                isEncoded: Bool = false
            ) -> HeaderPart {
                guard let value = value?.parameterText else { return HeaderPart() }
                if let failure = value.failure {
                    return HeaderPart(failure: failure.named("the value of its cookie \\(name)"))
                }
                func written(_ text: String) -> String { isEncoded ? text : cookieText(text) }
                if explode, let pairs = value.pairs {
                    return HeaderPart(cookies: pairs.map { "\\(cookieText($0.key))=\\(written($0.text))" })
                }
                let texts = value.flat.map(written)
                if explode { return HeaderPart(cookies: texts.map { "\\(name)=\\($0)" }) }
                return HeaderPart(cookies: ["\\(name)=" + texts.joined(separator: ",")])
            }

            /// A cookie with JSON; empty for nil.
            <shared>static func cookie(_ name: String, json value: (some Encodable)?) -> HeaderPart {
                cookie(name, value.map { ParameterText(json: $0) })
            }

            /// Percent-encodes each byte that is not a cookie-octet of RFC 6265.
            private static func cookieText(_ text: String) -> String {
                text.unicodeScalars.map { scalar in
                    let isKept = 0x21..<0x7F ~= scalar.value && !"\\",;\\\\".unicodeScalars.contains(scalar)
                    return isKept ? String(scalar) : percentEncoded(String(scalar))
                }.joined()
            }
        }

        nonisolated extension ParameterText {
            fileprivate func simple(explode: Bool) -> String {
                guard explode, let pairs else { return flat.joined(separator: ",") }
                return pairs.map { "\\($0.key)=\\($0.text)" }.joined(separator: ",")
            }
        }

        /// A path, written as a literal, and its first value that does not encode.
        <shared>nonisolated struct RoutePath: ExpressibleByStringInterpolation {
            fileprivate let path: ApiPath
            fileprivate let failure: UnencodableParameter?

            <shared>init(stringLiteral text: String) {
                path = ApiPath(stringLiteral: text)
                failure = nil
            }

            <shared>init(stringInterpolation literal: StringInterpolation) {
                path = ApiPath(stringInterpolation: literal.path)
                failure = literal.failure
            }

            /// Collects the text and the values of a literal.
            <shared>nonisolated struct StringInterpolation: StringInterpolationProtocol {
                fileprivate var path: ApiPath.StringInterpolation
                fileprivate var failure: UnencodableParameter?

                <shared>init(literalCapacity: Int, interpolationCount: Int) {
                    path = .init(literalCapacity: literalCapacity, interpolationCount: interpolationCount)
                }

                <shared>mutating func appendLiteral(_ literal: String) { path.appendLiteral(literal) }
            }
        }

        nonisolated extension RoutePath.StringInterpolation {
            /// A path, including its slashes.
            <shared>mutating func appendInterpolation(_ other: ApiPath) { path.appendInterpolation(other) }

            /// A value within one segment.
            <shared>mutating func appendInterpolation(_ value: some ParameterValue) {
                if case .text(let text) = value.parameterText {
                    path.appendInterpolation(text)
                } else {
                    appendInterpolation(simple: value)
                }
            }

            /// JSON as one segment.
            <shared>mutating func appendInterpolation(json value: some Encodable) {
                appendInterpolation(simple: ParameterText(json: value))
            }

            /// `1,2`, as RFC 6570 expands `{a}`.
            <shared>mutating func appendInterpolation(simple value: some ParameterValue, explode: Bool = false) {
                append(value.parameterText, start: "", separator: ",", name: nil, explode)
            }

            /// `.1.2`, as RFC 6570 expands `{.a*}`.
            <shared>mutating func appendInterpolation(label value: some ParameterValue, explode: Bool = false) {
                append(value.parameterText, start: ".", separator: explode ? "." : ",", name: nil, explode)
            }

            /// `;a=1;a=2`, as RFC 6570 expands `{;a*}`.
            <shared>mutating func appendInterpolation(matrix value: some ParameterValue, _ key: String, explode: Bool = false) {
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
                    pairs?.map { "\\(percentEncoded($0.key))=\\(percentEncoded($0.text))" }
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
        """
}
