// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// A line for a `Script` that answers a request as the server did, to paste into a test.
///
/// The matcher omits query items and bodies in which secrets were replaced.
struct CannedLine {
    let text: String

    init(_ exchange: ArchivedExchange) {
        text = "script.on(matching: \(Self.matchers(exchange))).answer(\(Self.answer(exchange)))"
    }

    private static func matchers(_ exchange: ArchivedExchange) -> String {
        let components = URLComponents(string: exchange.url)
        var matchers = [".method(\(method(exchange.method)))"]
        if let path = components?.path, !path.contains(Redactor.replacement) {
            matchers.append(".path(\(literal(path.isEmpty ? "/" : path)))")
        }
        let items = components?.queryItems ?? []
        for item in items where items.count(where: { $0.name == item.name }) == 1 {
            guard let value = item.value, !value.contains(Redactor.replacement) else { continue }
            matchers.append(".query(\(literal(item.name)), \(literal(value)))")
        }
        return matchers.joined(separator: ", ")
    }

    private static func answer(_ exchange: ArchivedExchange) -> String {
        guard let status = exchange.status else {
            let kind = if case .failed(let error) = exchange.outcome { error.kind.rawValue } else { "cancelled" }
            return ".failure(ApiConnectorError(.\(kind), \(literal("as it was seen"))))"
        }
        // A test double sets the length itself, and does not compress.
        let left: Set<ApiConnector.HTTPHeaders.Name> = [
            .contentLength, "Date", "Connection", "Transfer-Encoding", "Content-Encoding", "Keep-Alive",
        ]
        let fields = exchange.responseHeaders.filter { !left.contains($0.name) }
            .map { "\(literal($0.name.rawValue)): \(literal($0.value))" }
        let headers = fields.isEmpty ? "" : ", headers: [\(fields.joined(separator: ", "))]"
        let body = exchange.responseBody?.bytes ?? Data()
        guard !body.isEmpty else { return ".status(\(status.rawValue)\(headers))" }
        let data =
            String(validating: body, as: UTF8.self).map { "Data(\(literal($0)).utf8)" }
            ?? "Data(base64Encoded: \"\(body.base64EncodedString())\") ?? Data()"
        return ".data(\(data), status: \(status.rawValue)\(headers))"
    }

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
