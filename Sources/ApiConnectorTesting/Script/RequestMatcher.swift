// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// Which requests an answer is for; the code that decides is the code that explains.
///
/// ```swift
/// script.on(matching: .method(.post), .path("/authors/{name}/posts"), .json(["title": "Tea"]))
/// ```
public struct RequestMatcher: Sendable, CustomStringConvertible {
    /// What differs between a request and what was wanted; empty where the request fits.
    let differences: @Sendable (RecordedRequest) -> [Difference]

    /// The matcher as it is written, with secrets replaced.
    public let description: String

    /// What it is made of, for a process that has to make it again.
    let form: MatcherForm

    init(
        _ description: String,
        _ form: MatcherForm,
        _ differences: @escaping @Sendable (RecordedRequest) -> [Difference]
    ) {
        self.description = description
        self.form = form
        self.differences = differences
    }

    /// Whether a request fits.
    public func matches(_ request: RecordedRequest) -> Bool { differences(request).isEmpty }

    /// What differs, a sentence each; empty where the request fits.
    public func explain(_ request: RecordedRequest) -> [String] { differences(request).map(\.description) }

    /// Fits what fits both.
    public func and(_ other: RequestMatcher) -> RequestMatcher {
        RequestMatcher("\(self).and(\(other))", .and(form, other.form)) { differences($0) + other.differences($0) }
    }

    /// Fits what fits either; the explanation is that of the nearer one.
    public func or(_ other: RequestMatcher) -> RequestMatcher {
        RequestMatcher("\(self).or(\(other))", .or(form, other.form)) { request in
            let these = differences(request), those = other.differences(request)
            return these.distance <= those.distance ? these : those
        }
    }

    /// Fits what another one does not.
    public static func not(_ other: RequestMatcher) -> RequestMatcher {
        RequestMatcher(".not(\(other))", .not(other.form)) { request in
            other.matches(request) ? [Difference("the request", "\(other) must not match, but it does")] : []
        }
    }

    /// Fits what a closure says, whose words explain a refusal; called once for each request.
    ///
    /// - Parameters:
    ///   - claim: What the request has to be, as the end of the sentence "the request …", such as `has a token`.
    ///   - holds: Whether it is.
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

/// One field in which a request is not what was wanted.
struct Difference: Sendable, CustomStringConvertible {
    let field: String
    let sentence: String
    /// How far it takes the request away: 1 for a detail, more for what a request is about.
    var weight = 1.0

    init(_ field: String, _ sentence: String, weight: Double = 1) {
        self.field = field
        self.sentence = sentence
        self.weight = weight
    }

    /// A value that is another one; the values of secret fields are not shown.
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

    var description: String { "\(field): \(sentence)" }
}

extension [Difference] {
    var distance: Double { reduce(0) { $0 + $1.weight } }
}
