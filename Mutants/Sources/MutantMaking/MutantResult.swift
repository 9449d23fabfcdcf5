// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The tests' result for a mutant.
public struct MutantResult: Sendable, Hashable, Codable {
    /// The end of a mutant's run.
    public enum Outcome: String, Sendable, Codable, CaseIterable {
        /// A test recorded an issue.
        case assertion
        /// The process of the tests died.
        case crash
        /// The tests took too long, twice.
        case timeout
        /// All tests passed.
        case survived
        /// The mutant does not compile.
        case uncompiled
        /// The tests could not be run.
        case untested

        /// Whether the tests noticed the mutant.
        public var isKill: Bool { self == .assertion || self == .crash || self == .timeout }
    }

    /// The mutant's ``Mutant/identity``.
    public let identity: String
    /// The end of the run.
    public let outcome: Outcome
    /// The most informative line of the output, such as the first issue.
    public let detail: String

    /// Makes a result.
    public init(identity: String, outcome: Outcome, detail: String = "") {
        self.identity = identity
        self.outcome = outcome
        self.detail = detail
    }

    /// Derives the result of a run.
    ///
    /// - Parameters:
    ///   - status: The exit status; 128 and the signal after a signal.
    ///   - isLate: Whether the run was stopped because it took too long.
    ///   - output: The output of the tests.
    public init(identity: String, status: Int, isLate: Bool, output: String) {
        // Only the end of the output is read, because a run writes megabytes.
        let lines =
            output.utf8.count > 20_000 ? output.suffix(10_000).split(separator: "\n") : output.split(separator: "\n")
        let last = lines.last.map(String.init) ?? ""
        if let issue = lines.first(where: { $0.contains(Self.issueMark) }) {
            // A busy machine may be the cause, as for the limit of the whole run.
            let isLimit = issue.contains("Time limit was exceeded")
            self.init(identity: identity, outcome: isLimit ? .timeout : .assertion, detail: String(issue))
        } else if isLate {
            self.init(identity: identity, outcome: .timeout, detail: last)
        } else if status >= 128 {
            let fatal = lines.first { $0.contains("Fatal error") }.map(String.init)
            self.init(identity: identity, outcome: .crash, detail: fatal ?? last)
        } else if status == 0, lines.contains(where: { $0.contains(" tests in ") && $0.contains(" passed after ") }) {
            self.init(identity: identity, outcome: .survived)
        } else {
            self.init(identity: identity, outcome: .untested, detail: "exit status \(status): \(last)")
        }
    }

    /// The marker of a line that reports an issue in the tests' output.
    public static let issueMark = " recorded an issue "
}
