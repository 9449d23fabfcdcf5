// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// One promise of a provider: what the peer does, and what the caller and the peer must see.
public struct ConformanceCase: Sendable, CustomStringConvertible {
    /// What a case is about.
    public enum Topic: String, Sendable, CaseIterable {
        /// Method, target and header fields as they arrive.
        case requests
        /// A request's body as it arrives.
        case requestBodies = "request bodies"
        /// Status and header fields as they are delivered.
        case heads
        /// A response's body, collected.
        case bodies
        /// Redirects, refusals and other statuses that clients are tempted to treat by themselves.
        case statuses
        /// A response's body, read as it comes.
        case streams
        /// What breaks, and the kind of error that it becomes.
        case failures
        /// What a cancel does, in each phase.
        case cancels
        /// What a limit of time does, in each phase.
        case limits = "timeouts"
        /// Several requests at a time, or one after the other.
        case concurrency
    }

    /// The claim, which names the case.
    public let name: String

    /// What it is about.
    public let topic: Topic

    /// Whether it is about bytes or connections, so that a provider without a network has nothing to show.
    public let needsWire: Bool

    let answers: PeerAnswers
    let check: @Sendable (ConformanceProbe) async throws -> Void

    /// The claim.
    public var description: String { name }

    /// Every case.
    public static let all =
        requests + requestBodies + heads + bodies + statuses + streams + failures + cancels + limits + concurrency
}

/// Makes the cases of one topic.
struct CaseMaker {
    let topic: ConformanceCase.Topic

    func callAsFunction(
        _ name: String,
        _ answers: PeerAnswers = .ok,
        check: @escaping @Sendable (ConformanceProbe) async throws -> Void
    ) -> ConformanceCase {
        ConformanceCase(name: name, topic: topic, needsWire: false, answers: answers, check: check)
    }

    /// A case that is about bytes or connections.
    func wire(
        _ name: String,
        _ answers: PeerAnswers = .ok,
        check: @escaping @Sendable (ConformanceProbe) async throws -> Void
    ) -> ConformanceCase {
        ConformanceCase(name: name, topic: topic, needsWire: true, answers: answers, check: check)
    }
}

/// What a case saw and did not expect.
struct CaseFailure: Error, CustomStringConvertible {
    let description: String
}
