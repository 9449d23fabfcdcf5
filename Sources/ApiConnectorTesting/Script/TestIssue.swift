// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

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
