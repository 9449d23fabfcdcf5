// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// A problem that a test double found, such as a request without an answer or an unused answer.
public struct TestIssue: Sendable, CustomStringConvertible {
    /// The kinds of issue.
    public enum Kind: String, Sendable, Hashable, Codable {
        /// No answer was declared for a request.
        case unmatched
        /// All answers declared for a request are used up.
        case exhausted
        /// Several declarations match one request.
        case ambiguous
        /// An answer was used less often than declared.
        case unused
        /// A canned answer does not match its route.
        case unfit
        /// A held answer was requested but not released.
        case unreleased
        /// A request was still running when the scope ended.
        case unfinished
        /// An adapter cannot express an answer or cannot read a request.
        case refused
        /// A recording could not be saved.
        case unsaved
        /// A canned body and the recorded bodies have different fields.
        case drifted
        /// A request or a canned response violates the OpenAPI document.
        case violated
    }

    /// The kind.
    public let kind: Kind

    /// A text for a person, without secrets: what happened, and what to do.
    public let description: String

    /// The line of the answer's declaration; for a request without an answer, the line that made the script.
    public let place: CodeLocation

    package init(kind: Kind, description: String, place: CodeLocation) {
        self.kind = kind
        self.description = description
        self.place = place
    }
}

/// A line in a test's code, which an issue names.
public struct CodeLocation: Sendable, Hashable, CustomStringConvertible {
    /// The file as in `#fileID`.
    public let fileID: String

    /// The file as in `#filePath`, for XCTest.
    public let filePath: StaticString

    /// The line, counted from 1.
    public let line: UInt

    package init(_ fileID: String, _ filePath: StaticString, _ line: UInt) {
        self.fileID = fileID
        self.filePath = filePath
        self.line = line
    }

    /// File and line, such as `BlogTests.swift:12`.
    public var description: String {
        "\(fileID.split(separator: "/").last ?? ""):\(line)"
    }

    /// Whether both values name the same line.
    public static func == (left: Self, right: Self) -> Bool {
        left.fileID == right.fileID && left.line == right.line
    }

    /// Hashes file and line.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(fileID)
        hasher.combine(line)
    }
}

/// The texts of issues and their errors.
///
/// A text has no final period if the error's text adds one.
enum IssueText {
    static func unmatched(
        _ sent: RecordedRequest,
        _ declared: [(Declaration, [Difference])],
        scriptAt place: CodeLocation
    ) -> String {
        var text = "the script made at \(place) has no answer to this request; to add one, write\n"
        text += "  \(PastedLine(answering: sent))\n"
        guard !declared.isEmpty else { return text + "The script has no answers" }
        let nearest = declared.enumerated().sorted { left, right in
            (left.element.1.distance, left.offset) < (right.element.1.distance, right.offset)
        }
        text += declared.count == 1 ? "The script's only answer is for" : "The script's nearest answers are for"
        for (number, (_, (declaration, differences))) in nearest.prefix(3).enumerated() {
            text += "\n  \(number + 1). \(declaration.matcher), at \(declaration.place)"
            for difference in differences { text += "\n     \(difference)" }
        }
        return text
    }

    static func exhausted(_ declared: [Declaration]) -> String {
        let steps = declared.flatMap(\.steps)
        guard !steps.isEmpty else {
            return "the request matches \(places(declared)), which has no answer; add .answer(…)"
        }
        let list = steps.map { step in
            let times = step.count.maximum == 1 ? "" : " \(step.count.maximum) times"
            return "\(step.summary)\(times) (\(step.place))"
        }
        return "the answers to this request are used up: \(list.joined(separator: ", ")); "
            + "add one with .answer(…), or repeat the last one with times: .atLeastOnce"
    }

    static func ambiguous(_ declared: [Declaration]) -> String {
        "several declarations match this request: \(places(declared)); "
            + "declare the answers in a row, or make one matcher narrower"
    }

    static func unfit(_ request: some CustomStringConvertible, at place: CodeLocation, _ reason: String) -> String {
        "the answer declared at \(place) does not fit \(request): \(reason)"
    }

    /// A text as a sentence.
    static func sentence(_ text: String) -> String { text.prefix(1).uppercased() + text.dropFirst() + "." }

    static func unused(_ declaration: Declaration) -> [TestIssue] {
        declaration.steps.compactMap { step in
            guard step.givenCount < step.count.minimum else { return nil }
            let minimum = step.count.minimum
            let expected = minimum == 1 ? "" : "expected \(times(minimum)) and "
            let given = step.givenCount == 0 ? "never given" : "given \(times(step.givenCount))"
            let text = "The answer \(step.summary) to \(declaration.matcher) was \(expected)\(given)."
            return TestIssue(kind: .unused, description: text, place: step.place)
        }
    }

    static func unreleased(_ sent: RecordedRequest?) -> String {
        "\(sent.map { "\($0.request)" } ?? "A request"): the held answer was requested but not released; "
            + "call release(_:), or cancel the call before the test ends."
    }

    static func unfinished(_ sent: RecordedRequest, _ limit: Duration) -> String {
        "\(sent.request): it was still running when the test ended, and did not end within \(limit); "
            + "await or cancel it before the test ends."
    }

    static func unsent(_ request: ApiRequest, _ limit: Duration) -> String {
        "\(request): the client was still sending the body when the test ended, and did not finish within \(limit); "
            + "await or cancel it before the test ends."
    }

    static func stopped(_ scope: String) -> String {
        "\(scope) ended while the request was running"
    }

    static func late(_ scope: String) -> String {
        "\(scope) has ended, so its script no longer answers; "
            + "code that the test started is still running: await or cancel it before the test ends"
    }

    private static func times(_ count: Int) -> String {
        switch count {
        case 1: "once"
        case 2: "twice"
        default: "\(count) times"
        }
    }

    private static func places(_ declared: [Declaration]) -> String {
        declared.map { "\($0.matcher) (\($0.place))" }.joined(separator: ", ")
    }
}

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
