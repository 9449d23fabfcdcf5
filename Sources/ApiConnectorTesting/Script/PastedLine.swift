// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// A line of Swift that declares an answer to a request, to paste into the test.
///
/// The line matches its request. Secrets and parts that a matcher cannot express are left out. In a path, `{secret}`
/// replaces each segment that contains a secret.
struct PastedLine: CustomStringConvertible {
    let matcher: RequestMatcher

    init(answering sent: RecordedRequest) {
        let parts = [.method(sent.method), Self.path(sent)] + Self.query(sent) + [Self.body(sent)]
        matcher = .all(parts.compactMap { $0 })
    }

    var description: String { "script.on(matching: \(matcher)).answer(.status(200))" }

    private static func path(_ sent: RecordedRequest) -> RequestMatcher? {
        let segments = RequestMatcher.encodedSegments(of: sent.url)
        let decoded = segments.compactMap(\.removingPercentEncoding)
        let isPlain = decoded.count == segments.count && !decoded.contains { $0.unicodeScalars.contains("/") }
        let template = (isPlain ? decoded : segments).map { isShown($0) ? $0 : "{secret}" }.joined(separator: "/")
        return isShown(template) ? .path(template) : nil
    }

    private static func query(_ sent: RecordedRequest) -> [RequestMatcher?] {
        let items = RequestMatcher.queryItems(of: sent.url)
        return items.filter { item in
            items.count { $0.name == item.name } == 1 && isShown(item.name, item.value ?? "")
        }
        .map { .query($0.name, $0.value ?? "") }
    }

    private static func body(_ sent: RecordedRequest) -> RequestMatcher? {
        let type = sent.mediaType
        if type?.subtype == MediaType.form.subtype {
            let fields = RequestMatcher.formFields(of: sent.body)
            let shown = fields.filter { field in
                fields.count { $0.name == field.name } == 1 && isShown(field.name, field.value)
            }
            return shown.isEmpty ? nil : .form(Dictionary(shown.map { ($0.name, $0.value) }) { first, _ in first })
        }
        return JSONValue(parsing: sent.body)?.pasteable.map { .json($0) }
    }

    private static func isShown(_ name: String, _ value: String) -> Bool {
        !Redactor.standard.isSecret(queryItem: name) && isShown(name) && isShown(value)
    }

    private static func isShown(_ text: String) -> Bool { Redactor.standard.redact(text: text) == text }
}

extension JSONValue {
    /// The value without secrets and without parts that no literal can express; nil if nothing remains.
    fileprivate var pasteable: JSONValue? {
        guard let part = part(in: redacted), part.redacted == part else { return .none }
        return part
    }

    /// The part that equals the redacted value.
    ///
    /// As in a matcher, fields of an object may be left out, but elements of an array may not.
    private func part(in redacted: JSONValue) -> JSONValue? {
        switch (self, redacted) {
        case (.object(let fields), .object(let shown)):
            let parts = fields.compactMap { name, value in
                shown[name].flatMap { value.part(in: $0) }.map { (name, $0) }
            }
            return .object(Dictionary(parts) { first, _ in first })
        case (.array(let values), .array(let shown)):
            let parts = zip(values, shown).compactMap { $0.part(in: $1) }
            guard parts.count == max(values.count, shown.count) else { return .none }
            return .array(parts)
        default:
            // These are two statements, because in one expression nil would mean JSON's null.
            guard self == redacted, number?.isLiteral != false else { return .none }
            return self
        }
    }
}

extension JSONNumber {
    /// Whether a literal gives the same number.
    ///
    /// False for a number that is too large or has too many digits.
    fileprivate var isLiteral: Bool {
        if let whole = Int128(description) { return JSONNumber(whole) == self }
        return Double(description).flatMap { JSONNumber($0) } == self
    }
}
