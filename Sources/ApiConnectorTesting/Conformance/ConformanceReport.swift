// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// What became of each case over one provider; as a text it lists what failed and what was excluded.
public struct ConformanceReport: Sendable {
    /// What became of a case.
    public enum Outcome: Sendable, Hashable {
        /// The provider keeps the promise.
        case passed
        /// It does not: what was seen.
        case failed(String)
        /// The case was not run: the reason.
        case excluded(String)
    }

    /// One case.
    public struct Entry: Sendable {
        /// The case's claim.
        public let name: String
        /// What it is about.
        public let topic: ConformanceCase.Topic
        /// What became of it.
        public let outcome: Outcome
    }

    /// What was checked.
    public let target: String

    /// The cases, in their order.
    public let entries: [Entry]

    /// What is wrong with the exclusions, such as one without a reason.
    public let flaws: [String]

    /// Whether no case failed, one passed at least, and nothing is wrong with the exclusions.
    public var isPassed: Bool {
        flaws.isEmpty && failures.isEmpty && entries.contains { $0.outcome == .passed }
    }

    /// The cases that failed, each with what was seen.
    public var failures: [(name: String, whatWasSeen: String)] {
        entries.compactMap { entry in
            if case .failed(let seen) = entry.outcome { (entry.name, seen) } else { nil }
        }
    }

    /// The cases that were not run, each with the reason.
    public var exclusions: [(name: String, reason: String)] {
        entries.compactMap { entry in
            if case .excluded(let reason) = entry.outcome { (entry.name, reason) } else { nil }
        }
    }
}

extension ConformanceReport: CustomStringConvertible {
    /// A line for each topic, and one for each case that did not pass, under its reason.
    public var description: String {
        let passed = entries.count { $0.outcome == .passed }
        var counts = ["\(passed) of \(entries.count) cases passed"]
        if !failures.isEmpty { counts.append("\(failures.count) FAILED") }
        if !exclusions.isEmpty { counts.append("\(exclusions.count) excluded") }
        var lines = ["\(target): \(counts.joined(separator: ", "))"]
        for topic in ConformanceCase.Topic.allCases {
            let ofTopic = entries.filter { $0.topic == topic }
            if ofTopic.isEmpty { continue }
            let passed = ofTopic.count { $0.outcome == .passed }
            let title = topic.rawValue.padding(toLength: 16, withPad: " ", startingAt: 0)
            lines.append("  \(title) \(passed) of \(ofTopic.count)")
        }
        for (reason, excluded) in Dictionary(grouping: exclusions, by: { $0.reason }).sorted(by: { $0.key < $1.key }) {
            lines.append("  excluded: \(reason)")
            lines += excluded.map { "    - \($0.name)" }
        }
        for (name, whatWasSeen) in failures {
            lines.append("  FAILED: \(name)")
            lines.append("    \(whatWasSeen)")
        }
        lines += flaws.map { "  FLAW: \($0)" }
        return lines.joined(separator: "\n")
    }
}
