// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The declarations that an adapter cannot express.
///
/// Each reason ends the sentence "What is declared at … is refused: ".
protocol AnswerLimits: Sendable {
    /// Why a declaration cannot be expressed; empty if it can.
    ///
    /// - Parameter isLate: Whether it was declared after the adapter was made.
    func refusals(of declaration: Declaration, isLate: Bool) -> [TestIssue]

    /// The same for one answer.
    func refusals(of step: AnswerStep, isLate: Bool) -> [TestIssue]

    /// Why a response cannot be expressed; nil if it can.
    func refusal(of response: TestConnectorResponse) -> String?
}

extension TestIssue {
    /// The issue for a declaration that cannot be expressed.
    static func refused(at place: CodeLocation, _ reason: String) -> TestIssue {
        TestIssue(kind: .refused, description: "What is declared at \(place) is refused: \(reason).", place: place)
    }
}

/// How an adapter delivers a script's answers.
struct AnswerDelivery: Sendable {
    let limits: any AnswerLimits

    /// Passes on a request without an answer; nil if such a request is refused.
    var passOn: (@Sendable (ApiRequest) async throws -> TestConnectorResponse)?
}
