// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector

/// The differences between two JSON values, each with its path.
struct JSONComparison {
    /// Whether an object may have additional keys.
    let allowsMore: Bool

    /// The first five differences.
    ///
    /// All differences of a body together have the weight of one difference, because the body is one part of the
    /// request.
    func differences(_ wanted: JSONValue, _ sent: JSONValue) -> [Difference] {
        var found: [Difference] = []
        compare(wanted, sent, at: "", &found)
        found.removeSubrange(min(found.count, 5)...)
        for index in found.indices { found[index].weight = 1 / Double(found.count) }
        return found
    }

    private func compare(
        _ wanted: JSONValue,
        _ sent: JSONValue?,
        at path: String,
        isSecret: Bool = false,
        _ found: inout [Difference]
    ) {
        switch (wanted, sent) {
        case (.object(let wanted), .object(let sent)):
            let keys = Set(wanted.keys).union(allowsMore ? [] : Array(sent.keys))
            for key in keys.sorted() {
                let inner = path.isEmpty ? key : "\(path).\(key)"
                let isSecret = isSecret || Redactor.standard.isSecret(field: key)
                if let value = wanted[key] {
                    compare(value, sent[key], at: inner, isSecret: isSecret, &found)
                } else {
                    add(nil, sent[key], at: inner, isSecret, &found)
                }
            }
        case (.array(let wanted), .array(let sent)) where wanted.count == sent.count:
            for (index, (wanted, sent)) in zip(wanted, sent).enumerated() {
                compare(wanted, sent, at: "\(path)[\(index)]", isSecret: isSecret, &found)
            }
        default:
            if wanted != sent { add(wanted, sent, at: path, isSecret, &found) }
        }
    }

    private func add(
        _ wanted: JSONValue?,
        _ sent: JSONValue?,
        at path: String,
        _ isSecret: Bool,
        _ found: inout [Difference]
    ) {
        func text(_ value: JSONValue?) -> String {
            guard let value else { return "none" }
            if isSecret { return "a secret value" }
            let text = Redactor.standard.redact(body: value.description, mediaType: .json)
            return text.count > 120 ? text.prefix(120) + "…" : text
        }
        let field = path.isEmpty ? "body" : "body at \(path)"
        let sentText = isSecret && wanted != nil && sent != nil ? "another" : text(sent)
        found.append(Difference(field, "\(text(wanted)) was expected, but \(sentText) was sent"))
    }
}

extension JSONValue {
    /// Parses JSON; nil if the bytes are not JSON.
    package init?(parsing bytes: Data) {
        guard let value = try? JSONDecoder().decode(JSONValue.self, from: bytes) else { return nil }
        self = value
    }

    /// The value with its secrets replaced.
    var redacted: JSONValue {
        let text = Redactor.standard.redact(body: description, mediaType: .json)
        return JSONValue(parsing: Data(text.utf8)) ?? .string(Redactor.replacement)
    }

    /// The value as a Swift literal, to paste into a test.
    var swiftLiteral: String {
        switch self {
        case .null: "nil"
        case .bool, .number: description
        case .string(let text): String(reflecting: text)
        case .array(let values): "[\(values.map(\.swiftLiteral).joined(separator: ", "))]"
        case .object(let values) where values.isEmpty: "[:]"
        case .object(let values):
            "["
                + values.sorted { $0.key < $1.key }
                .map { "\(String(reflecting: $0)): \($1.swiftLiteral)" }
                .joined(separator: ", ") + "]"
        }
    }
}
