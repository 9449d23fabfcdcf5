// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

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
