// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Something that a ``Script`` holds against a test: a request it had no answer to, an answer nobody asked for.
public struct TestIssue: Sendable, CustomStringConvertible {
    /// The kinds of issue.
    public enum Kind: String, Sendable, Hashable, Codable {
        /// No answer was declared for a request.
        case unmatched
        /// All the answers declared for a request had been given.
        case exhausted
        /// Two declarations fit one request.
        case ambiguous
        /// An answer was given less often than declared.
        case unused
        /// A canned answer does not fit its route.
        case unfit
        /// A held answer was asked for and not released.
        case unreleased
        /// A request was still under way when the scope ended.
        case unfinished
        /// An adapter was asked for what it cannot do: an answer that it cannot express, a request that it cannot read.
        case refused
        /// A recording could not be saved.
        case unsaved
        /// A canned body and the recorded ones have other fields.
        case drifted
        /// A request or a canned response does not fit the OpenAPI document.
        case violated
    }

    /// What kind it is.
    public let kind: Kind

    /// What happened and what to do, for a person; without secrets.
    public let description: String

    /// The line to look at: where the answer was declared, for a request without one where the script was made.
    public let place: CodeLocation
}
