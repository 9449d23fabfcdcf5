// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// A line for a `Script` that answers a request as the server did, to paste into a test.
///
/// The matchers omit query items, path segments and body fields in which secrets were replaced. A comment above the
/// line says how the answer differs from the server's.
struct CannedLine {
    let text: String

    init(_ exchange: ArchivedExchange) {
        let answer = Answer(exchange)
        let comments = [Self.commentOnBody(exchange), answer.comment].compactMap { $0 }.map { "// \($0)\n" }
        text = comments.joined() + "script.on(matching: \(Self.matchers(exchange))).answer(\(answer.text))"
    }

    // MARK: - Matchers

    private static func matchers(_ exchange: ArchivedExchange) -> String {
        let components = URLComponents(string: exchange.url)
        var matchers = [".method(\(method(exchange.method)))"]
        if let path = components?.percentEncodedPath { matchers.append(".path(\(literal(template(path))))") }
        matchers += queryMatchers(components?.queryItems ?? [])
        if let body = exchange.body.flatMap(bodyMatcher) { matchers.append(body) }
        return matchers.joined(separator: ", ")
    }

    /// An encoded path as the template of a matcher, in which `{secret}` replaces secrets.
    private static func template(_ path: String) -> String {
        let segments = path.unicodeScalars.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        let shown = segments.map { segment in
            if segment.contains(Redactor.replacement) { return "{secret}" }
            // In a template, a segment in braces matches any text.
            return segment.replacing("{", with: "%7B").replacing("}", with: "%7D")
        }
        return path.isEmpty ? "/" : shown.joined(separator: "/")
    }

    private static func queryMatchers(_ items: [URLQueryItem]) -> [String] {
        var seen: Set<String> = []
        return items.compactMap { item in
            guard seen.insert(item.name).inserted else { return nil }
            let values = items.filter { $0.name == item.name }.map { $0.value ?? "" }
            guard !([item.name] + values).contains(where: { $0.contains(Redactor.replacement) }) else { return nil }
            if values.count == 1 { return ".query(\(literal(item.name)), \(literal(values[0])))" }
            // There is no matcher for an item that is repeated.
            let list = "[\(values.map(literal).joined(separator: ", "))]"
            return """
                .satisfying(\(literal("has the query items \(item.name)")), { URLComponents(url: $0.url, \
                resolvingAgainstBaseURL: true)?.queryItems?.filter { $0.name == \(literal(item.name)) }\
                .map { $0.value ?? "" } == \(list) })
                """
        }
    }

    /// A matcher for a request's body; nil if the body was not kept as a whole, or if no matcher can express it.
    private static func bodyMatcher(_ body: ArchivedExchange.Body) -> String? {
        guard !body.isTruncated, !body.bytes.isEmpty else { return nil }
        if body.mediaType?.subtype == MediaType.form.subtype { return formMatcher(body.bytes) }
        // A multipart body has a new boundary in each request.
        if body.mediaType?.type == "multipart" { return nil }
        if let value = try? JSONDecoder().decode(JSONValue.self, from: body.bytes) {
            return value.literal.map { ".json(\($0))" }
        }
        guard let text = String(validating: body.bytes, as: UTF8.self) else {
            return ".body(Data(base64Encoded: \"\(body.bytes.base64EncodedString())\") ?? Data())"
        }
        return text.contains(Redactor.replacement) ? nil : ".body(Data(\(literal(text)).utf8))"
    }

    private static func formMatcher(_ body: Data) -> String? {
        let encoded = String(decoding: body, as: UTF8.self).replacing("+", with: "%20")
        let items = URLComponents(string: "?\(encoded)")?.queryItems ?? []
        let fields = items.filter { item in
            let isShown = ![item.name, item.value ?? ""].contains { $0.contains(Redactor.replacement) }
            return isShown && items.count { $0.name == item.name } == 1
        }
        guard !fields.isEmpty else { return nil }
        return ".form([\(fields.map { "\(literal($0.name)): \(literal($0.value ?? ""))" }.joined(separator: ", "))])"
    }

    private static func commentOnBody(_ exchange: ArchivedExchange) -> String? {
        guard exchange.body?.isTruncated == true else { return nil }
        return "The line does not compare the request's body, which was not kept as a whole."
    }

    // MARK: - Answer

    private struct Answer {
        let text: String
        var comment: String?

        init(_ exchange: ArchivedExchange) {
            let failure = Self.failure(exchange)
            guard let status = exchange.status else {
                if failure == nil { comment = "No response had arrived." }
                text = failure.map { ".failure(\($0))" } ?? ".never"
                return
            }
            let body = exchange.responseBody?.bytes ?? Data()
            let data =
                String(validating: body, as: UTF8.self).map { "Data(\(literal($0)).utf8)" }
                ?? "Data(base64Encoded: \"\(body.base64EncodedString())\") ?? Data()"
            let headers = Self.headers(exchange)
            comment = Self.comment(exchange)
            if let failure {
                // The canned response fails after the last byte that was recorded.
                text =
                    ".data(\(data), status: \(status.rawValue)\(headers))"
                    + ".failing(.afterByteCount(\(body.count)), with: \(failure))"
            } else if body.isEmpty {
                text = ".status(\(status.rawValue)\(headers))"
            } else {
                text = ".data(\(data), status: \(status.rawValue)\(headers))"
            }
        }

        /// The kinds that a transport throws, whose constants have the names of their raw values.
        private static let transportKinds: Set<ApiConnectorError.Kind> = [
            .invalidRequest, .nameNotResolved, .cannotConnect, .secureConnectionFailed, .connectionLost,
            .malformedResponse, .timedOut, .stalled, .deadlineExceeded, .cancelled, .bodyTooLarge, .notReplayable,
            .other,
        ]

        private static func failure(_ exchange: ArchivedExchange) -> String? {
            guard case .failed(let error) = exchange.outcome else { return nil }
            let kind = error.kind.rawValue
            let shownKind = transportKinds.contains(error.kind) ? ".\(kind)" : ".init(rawValue: \(literal(kind)))"
            let detail = exchange.failure.map { $0.hasPrefix("\(kind): ") ? String($0.dropFirst(kind.count + 2)) : $0 }
            return "ApiConnectorError(\(shownKind), \(literal(detail ?? "")))"
        }

        private static func headers(_ exchange: ArchivedExchange) -> String {
            // A test double sets the length itself, and does not compress.
            let left: Set<ApiConnector.HTTPHeaders.Name> = [
                .contentLength, "Date", "Connection", "Transfer-Encoding", "Content-Encoding", "Keep-Alive",
            ]
            let fields = exchange.responseHeaders.filter { !left.contains($0.name) }
                .map { "\(literal($0.name.rawValue)): \(literal($0.value))" }
            return fields.isEmpty ? "" : ", headers: [\(fields.joined(separator: ", "))]"
        }

        private static func comment(_ exchange: ArchivedExchange) -> String? {
            guard let body = exchange.responseBody else { return nil }
            let size = "\(body.bytes.count) of \(body.byteCount ?? 0) bytes"
            switch exchange.outcome {
            case nil: return "The response was still arriving. Of the received body, the line has \(size)."
            case .left where !isWhole(body, of: exchange):
                return "The caller did not read the whole body. Of the part that it read, the line has \(size)."
            case .answered, .failed, .left: return body.isTruncated ? "The body is cut off. The line has \(size)." : nil
            }
        }

        /// Whether the body is complete, although the caller did not read it to its end.
        private static func isWhole(_ body: ArchivedExchange.Body, of exchange: ArchivedExchange) -> Bool {
            let hasNone = exchange.method == .head || [204, 304].contains(exchange.status?.rawValue)
            return hasNone || body.byteCount.map { exchange.responseHeaders[.contentLength] == "\($0)" } == true
        }
    }

    // MARK: - Literals

    private static func method(_ method: ApiConnector.HTTPMethod) -> String {
        let name = method.rawValue.lowercased()
        let known = ["get", "head", "post", "put", "patch", "delete", "options"]
        return known.contains(name) ? ".\(name)" : "HTTPMethod(rawValue: \(literal(method.rawValue)))"
    }

    /// A text as a Swift literal.
    static func literal(_ text: String) -> String {
        if text.contains(#"""#), !text.contains(where: \.isNewline), !text.contains("\\"), isPlain(text) {
            let marks = text.contains("\"#") ? nil : "#"
            if let marks { return "\(marks)\"\(text)\"\(marks)" }
        }
        var literal = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": literal += "\\\""
            case "\\": literal += "\\\\"
            case "\n": literal += "\\n"
            case "\r": literal += "\\r"
            case "\t": literal += "\\t"
            case _ where scalar.value < 0x20 || scalar.properties.generalCategory == .format:
                literal += "\\u{\(String(scalar.value, radix: 16))}"
            default: literal.unicodeScalars.append(scalar)
            }
        }
        return literal + "\""
    }

    private static func isPlain(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.properties.generalCategory != .format }
    }
}

extension JSONValue {
    /// The value as a Swift literal; nil if a literal cannot express the value.
    ///
    /// A literal cannot express a replaced secret, or a number with too many digits. The literal of an object omits
    /// the fields with such names or values.
    fileprivate var literal: String? {
        switch self {
        case .null: return "nil"
        case .bool(let value): return "\(value)"
        case .number(let number): return number.literal
        case .string(let text): return text.contains(Redactor.replacement) ? nil : CannedLine.literal(text)
        case .array(let values):
            let shown = values.compactMap(\.literal)
            return shown.count == values.count ? "[\(shown.joined(separator: ", "))]" : nil
        case .object(let values):
            let shown = values.sorted { $0.key < $1.key }.compactMap { name, value in
                name.contains(Redactor.replacement) ? nil : value.literal.map { "\(CannedLine.literal(name)): \($0)" }
            }
            return shown.isEmpty ? "[:]" : "[\(shown.joined(separator: ", "))]"
        }
    }
}

extension JSONNumber {
    /// The number as a Swift literal; nil if the literal would be another number.
    fileprivate var literal: String? {
        if let whole = Int128(description) { return JSONNumber(whole) == self ? description : nil }
        return Double(description).flatMap { JSONNumber($0) } == self ? description : nil
    }
}
