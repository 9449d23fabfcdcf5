// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// Decides whether an answer is for a request, and explains the differences if it is not.
///
/// ```swift
/// script.on(matching: .method(.post), .path("/authors/{name}/posts"), .json(["title": "Tea"]))
/// ```
public struct RequestMatcher: Sendable, CustomStringConvertible {
    /// The differences between a request and the expected request; empty if the request matches.
    package let differences: @Sendable (RecordedRequest) -> [Difference]

    /// The matcher as Swift code, with secrets replaced.
    public let description: String

    /// The matcher as a value, for another process.
    package let form: MatcherForm

    init(
        _ description: String,
        _ form: MatcherForm,
        _ differences: @escaping @Sendable (RecordedRequest) -> [Difference]
    ) {
        self.description = description
        self.form = form
        self.differences = differences
    }

    /// Whether a request matches.
    public func matches(_ request: RecordedRequest) -> Bool { differences(request).isEmpty }

    /// The differences, one sentence each; empty if the request matches.
    public func explain(_ request: RecordedRequest) -> [String] { differences(request).map(\.description) }

    /// Matches a request that both matchers match.
    public func and(_ other: RequestMatcher) -> RequestMatcher {
        RequestMatcher("\(self).and(\(other))", .and(form, other.form)) { differences($0) + other.differences($0) }
    }

    /// Matches a request that at least one of the matchers matches.
    ///
    /// If neither matches, the explanation is that of the matcher with the smaller differences.
    public func or(_ other: RequestMatcher) -> RequestMatcher {
        RequestMatcher("\(self).or(\(other))", .or(form, other.form)) { request in
            let these = differences(request), those = other.differences(request)
            return these.distance <= those.distance ? these : those
        }
    }

    /// Matches a request that another matcher does not match.
    public static func not(_ other: RequestMatcher) -> RequestMatcher {
        RequestMatcher(".not(\(other))", .not(other.form)) { request in
            other.matches(request) ? [Difference("the request", "\(other) must not match, but it does")] : []
        }
    }

    /// Matches a request for which a closure returns true.
    ///
    /// The closure is called once for each request.
    ///
    /// - Parameters:
    ///   - claim: The requirement, as the end of the sentence "the request …", such as `has a token`. It explains a
    ///     mismatch.
    ///   - holds: Whether the request meets the requirement.
    public static func satisfying(
        _ claim: String,
        _ holds: @escaping @Sendable (RecordedRequest) -> Bool
    ) -> RequestMatcher {
        RequestMatcher(".satisfying(\"\(claim)\")", .closure) { request in
            holds(request) ? [] : [Difference("the request", "\"\(claim)\" does not hold")]
        }
    }

    static func all(_ matchers: [RequestMatcher]) -> RequestMatcher {
        RequestMatcher(matchers.map(\.description).joined(separator: ", "), .all(matchers.map(\.form))) { request in
            matchers.flatMap { $0.differences(request) }
        }
    }
}

/// One field in which a request differs from the expected request.
package struct Difference: Sendable, CustomStringConvertible {
    let field: String
    let sentence: String
    /// The weight of the difference: 1 for a detail, more for an essential part such as the path.
    var weight = 1.0

    init(_ field: String, _ sentence: String, weight: Double = 1) {
        self.field = field
        self.sentence = sentence
        self.weight = weight
    }

    /// A value that differs; the values of secret fields are not shown.
    init(_ field: String, wanted: String?, sent: String?, isSecret: Bool = false, weight: Double = 1) {
        func shown(_ value: String) -> String {
            if isSecret { return "a secret value" }
            let value = Redactor.standard.redact(text: value)
            return "\"\(value.count > 120 ? value.prefix(120) + "…" : value)\""
        }
        let isAnother = isSecret && wanted != nil
        let wanted = wanted.map(shown) ?? "none"
        let sent = sent.map { isAnother ? "another" : shown($0) } ?? "none"
        self.init(field, "\(wanted) was expected, but \(sent) was sent", weight: weight)
    }

    package var description: String { "\(field): \(sentence)" }
}

extension [Difference] {
    package var distance: Double { reduce(0) { $0 + $1.weight } }
}

extension RequestMatcher {
    /// Matches a method.
    public static func method(_ method: HTTPMethod) -> RequestMatcher {
        RequestMatcher(".method(\(code(method)))", .method(method.rawValue)) { sent in
            guard sent.method != method else { return [] }
            return [Difference("method", wanted: "\(method)", sent: "\(sent.method)", weight: 2)]
        }
    }

    /// Matches a path, including the environment's base path; `{name}` matches any one nonempty segment.
    ///
    /// Segments are decoded before they are compared, and case matters. Percent-encode a slash within a segment. An
    /// empty path is `/`.
    public static func path(_ template: String) -> RequestMatcher {
        RequestMatcher(".path(\(code(template)))", .path(template)) { sent in
            // The path is split by scalars, because a slash and a combining mark after it are one character.
            let path = template.isEmpty ? "/" : template
            let parts = path.unicodeScalars.split(separator: "/", omittingEmptySubsequences: false)
            let wanted = parts.map(String.init)
            return pathDifferences(wanted, template, sent.url) { $0.hasPrefix("{") && $0.hasSuffix("}") }
        }
    }

    /// Matches a query with exactly one item of this name, if that item has this value.
    ///
    /// Items with other names may be present.
    public static func query(_ name: String, _ value: String) -> RequestMatcher {
        let isSecret = Redactor.standard.isSecret(queryItem: name)
        return RequestMatcher(".query(\(code(name)), \(code(value, isSecret)))", .query(name, value)) { sent in
            let values = queryItems(of: sent.url).filter { $0.name == name }.map { $0.value ?? "" }
            guard values != [value] else { return [] }
            let text = values.isEmpty ? nil : values.joined(separator: "\", \"")
            return [Difference("query item \(name)", wanted: value, sent: text, isSecret: isSecret)]
        }
    }

    /// Matches a request with a header field of this name and value.
    public static func header(_ name: HTTPHeaders.Name, _ value: String) -> RequestMatcher {
        let isSecret = Redactor.standard.redact(value, ofHeader: name) != value
        let form = MatcherForm.header(name.rawValue, value)
        return RequestMatcher(".header(\(code(name.rawValue)), \(code(value, isSecret)))", form) { sent in
            let values = sent.headers.values(name)
            guard !values.contains(value) else { return [] }
            let text = values.isEmpty ? nil : values.joined(separator: "\", \"")
            return [Difference("header field \(name)", wanted: value, sent: text, isSecret: isSecret)]
        }
    }

    /// Matches a JSON body that contains at least this value.
    ///
    /// Objects may have additional keys. Arrays are compared as a whole.
    public static func json(_ part: JSONValue) -> RequestMatcher {
        let text = Redactor.standard.redact(body: part.description, mediaType: .json)
        return RequestMatcher(".json(\(part.redacted.swiftLiteral))", .json(part)) { sent in
            guard let value = JSONValue(parsing: sent.body) else {
                return [Difference("body", wanted: text, sent: shown(sent))]
            }
            return JSONComparison(allowsMore: true).differences(part, value)
        }
    }

    /// Matches a form that has at least these fields, each once.
    public static func form(_ fields: [String: String]) -> RequestMatcher {
        let text = fields.sorted { $0.key < $1.key }.map { name, value in
            "\(code(name)): \(code(value, Redactor.standard.isSecret(queryItem: name)))"
        }
        return RequestMatcher(".form([\(text.joined(separator: ", "))])", .form(fields)) { sent in
            let items = formFields(of: sent.body)
            return fields.sorted { $0.key < $1.key }.compactMap { name, value in
                let values = items.filter { $0.name == name }.map(\.value)
                guard values != [value] else { return nil }
                return Difference(
                    "form field \(name)",
                    wanted: value,
                    sent: values.isEmpty ? nil : values.joined(separator: "\", \""),
                    isSecret: Redactor.standard.isSecret(queryItem: name)
                )
            }
        }
    }

    /// Matches a body of exactly these bytes.
    public static func body(_ data: Data) -> RequestMatcher {
        RequestMatcher(".body(\(data.count) bytes)", .body(data)) { sent in
            guard sent.body != data else { return [] }
            return [Difference("body", wanted: shown(data, nil), sent: shown(sent))]
        }
    }

    /// A text as code.
    static func code(_ text: String, _ isSecret: Bool = false) -> String {
        String(reflecting: isSecret ? Redactor.replacement : text)
    }

    /// The method as code.
    static func code(_ method: HTTPMethod) -> String {
        let known: [HTTPMethod] = [.get, .head, .post, .put, .patch, .delete, .options, .trace]
        return known.contains(method) ? ".\(method.rawValue.lowercased())" : String(reflecting: method.rawValue)
    }

    package static func queryItems(of url: URL) -> [URLQueryItem] {
        URLComponents(url: url, resolvingAgainstBaseURL: true)?.queryItems ?? []
    }

    /// The names and values of a form's body; invalid escapes are kept unchanged.
    static func formFields(of body: Data) -> [(name: String, value: String)] {
        func decoded(_ text: Substring) -> String {
            let spaced = text.replacing("+", with: " ")
            return spaced.removingPercentEncoding ?? String(spaced)
        }
        return String(decoding: body, as: UTF8.self).split(separator: "&").map { field in
            let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (decoded(parts[0]), parts.count > 1 ? decoded(parts[1]) : "")
        }
    }

    static func encodedSegments(of url: URL) -> [String] {
        let path = url.path(percentEncoded: true)
        // RFC 3986, section 6.2.3: an empty path is the root.
        return (path.isEmpty ? "/" : path).split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    }

    /// The differences between two paths.
    ///
    /// The weight of the difference decreases with the number of equal segments.
    static func pathDifferences(
        _ wanted: [String],
        _ text: String,
        _ url: URL,
        isFree: (String) -> Bool = { _ in false }
    ) -> [Difference] {
        let sent = encodedSegments(of: url)
        let different =
            zip(wanted, sent).count { isFree($0) ? $1.isEmpty : !isSegment($0, $1) } + abs(wanted.count - sent.count)
        guard different > 0 else { return [] }
        let share = Double(different) / Double(max(wanted.count, sent.count))
        return [Difference("path", wanted: text, sent: url.path(percentEncoded: true), weight: 2 + share)]
    }

    /// Whether a segment equals the expected segment, which may be escaped in another way or not at all.
    private static func isSegment(_ wanted: String, _ sent: String) -> Bool {
        if wanted == sent { return true }
        guard let decoded = sent.removingPercentEncoding else { return false }
        return decoded == wanted || decoded == wanted.removingPercentEncoding
    }

    static func shown(_ sent: RecordedRequest) -> String? {
        shown(sent.body, sent.mediaType)
    }

    /// The body as shown in a text, with sorted JSON keys and replaced secrets; nil if it is empty.
    static func shown(_ body: Data, _ mediaType: MediaType?) -> String? {
        guard !body.isEmpty else { return nil }
        if mediaType?.isJSON == true, let value = JSONValue(parsing: body) {
            return Redactor.standard.redact(body: value.description, mediaType: mediaType)
        }
        guard Redactor.inUTF8(body, mediaType: mediaType) == nil, let text = String(bytes: body, encoding: .utf8)
        else { return "\(body.count) bytes" }
        return Redactor.standard.redact(body: text, mediaType: mediaType)
    }
}
