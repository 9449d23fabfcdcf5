// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

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
