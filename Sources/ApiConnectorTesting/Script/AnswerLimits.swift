// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// What cannot be expressed where a script is handed to; each reason is the end of "What is declared at … is refused: ".
protocol AnswerLimits: Sendable {
    /// Why a declaration cannot be expressed; empty where it can.
    ///
    /// - Parameter isLate: Whether it was declared after the script was handed over.
    func refusals(of declaration: Declaration, isLate: Bool) -> [TestIssue]

    /// The same for one answer.
    func refusals(of step: AnswerStep, isLate: Bool) -> [TestIssue]

    /// Why a response cannot be expressed; nil where it can.
    func refusal(of response: TestConnectorResponse) -> String?
}

extension TestIssue {
    /// The issue for a declaration that cannot be expressed.
    static func refused(at place: CodeLocation, _ reason: String) -> TestIssue {
        TestIssue(kind: .refused, description: "What is declared at \(place) is refused: \(reason).", place: place)
    }
}

/// How a script's answers travel.
struct AnswerDelivery: Sendable {
    let limits: any AnswerLimits

    /// Sends a request without an answer on; nil where it is refused.
    var passOn: (@Sendable (ApiRequest) async throws -> TestConnectorResponse)?
}
