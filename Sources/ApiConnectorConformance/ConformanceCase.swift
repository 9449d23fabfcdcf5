// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// One requirement for a provider: what the server does, and what the caller and the server must then see.
public struct ConformanceCase: Sendable, CustomStringConvertible {
    /// The topic of a case.
    public enum Topic: String, Sendable, CaseIterable {
        /// Method, target and header fields as the server receives them.
        case requests
        /// Request bodies as the server receives them.
        case requestBodies = "request bodies"
        /// Status and header fields as the caller receives them.
        case heads
        /// Collected response bodies.
        case bodies
        /// Redirects, authentication challenges and other statuses that some clients handle themselves.
        case statuses
        /// Streamed response bodies.
        case streams
        /// Failures and their error kinds.
        case failures
        /// Cancellation, in each phase.
        case cancels
        /// Timeouts, in each phase.
        case limits = "timeouts"
        /// Several requests, concurrent or in sequence.
        case concurrency
    }

    /// The claim that the case checks; it is the case's name.
    public let name: String

    /// The topic.
    public let topic: Topic

    /// Whether the case checks bytes on a connection.
    ///
    /// Such a case is excluded for a provider that does not use a network.
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

    /// A case that checks bytes on a connection.
    func wire(
        _ name: String,
        _ answers: PeerAnswers = .ok,
        check: @escaping @Sendable (ConformanceProbe) async throws -> Void
    ) -> ConformanceCase {
        ConformanceCase(name: name, topic: topic, needsWire: true, answers: answers, check: check)
    }
}

/// An unexpected observation of a case.
struct CaseFailure: Error, CustomStringConvertible {
    let description: String
}
