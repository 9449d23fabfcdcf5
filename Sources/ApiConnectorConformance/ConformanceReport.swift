// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The outcome of each case for one provider.
///
/// Its description lists the failed and excluded cases.
public struct ConformanceReport: Sendable {
    /// The outcome of a case.
    public enum Outcome: Sendable, Hashable {
        /// The provider meets the requirement.
        case passed
        /// The provider does not meet the requirement. The text says what was observed.
        case failed(String)
        /// The case was not run. The text is the reason.
        case excluded(String)
    }

    /// One case.
    public struct Entry: Sendable {
        /// The case's claim.
        public let name: String
        /// The topic of the case.
        public let topic: ConformanceCase.Topic
        /// The outcome of the case.
        public let outcome: Outcome
    }

    /// The name of the target that was checked.
    public let target: String

    /// The cases, in order.
    public let entries: [Entry]

    /// Mistakes in the exclusions, such as an exclusion without a reason.
    public let flaws: [String]

    /// Whether at least one case passed, no case failed, and the exclusions have no mistakes.
    public var isPassed: Bool {
        flaws.isEmpty && failures.isEmpty && entries.contains { $0.outcome == .passed }
    }

    /// The failed cases, each with the observation.
    public var failures: [(name: String, whatWasSeen: String)] {
        entries.compactMap { entry in
            if case .failed(let seen) = entry.outcome { (entry.name, seen) } else { nil }
        }
    }

    /// The excluded cases, each with its reason.
    public var exclusions: [(name: String, reason: String)] {
        entries.compactMap { entry in
            if case .excluded(let reason) = entry.outcome { (entry.name, reason) } else { nil }
        }
    }
}

extension ConformanceReport: CustomStringConvertible {
    /// One line per topic, then one line per case that did not pass, with its reason or observation.
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
