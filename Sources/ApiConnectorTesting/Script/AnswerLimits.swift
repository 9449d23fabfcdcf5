// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector

/// The declarations that an adapter cannot express.
///
/// Each reason is the end of the sentence "What is declared at … is refused: ".
package protocol AnswerLimits: Sendable {
    /// The reasons why a declaration cannot be expressed; empty if it can be.
    ///
    /// - Parameter isLate: Whether the declaration was made after the adapter.
    func refusals(of declaration: Declaration, isLate: Bool) -> [TestIssue]

    /// The reasons why one answer cannot be expressed; empty if it can be.
    func refusals(of step: AnswerStep, isLate: Bool) -> [TestIssue]

    /// The reason why a response cannot be expressed; nil if it can be.
    func refusal(of response: TestConnectorResponse) -> String?
}

extension TestIssue {
    /// The issue for a declaration that cannot be expressed.
    package static func refused(at place: CodeLocation, _ reason: String) -> TestIssue {
        TestIssue(kind: .refused, description: "What is declared at \(place) is refused: \(reason).", place: place)
    }
}

/// How an adapter delivers a script's answers.
package struct AnswerDelivery: Sendable {
    package let limits: any AnswerLimits

    /// Passes on a request that has no answer; nil if such requests are refused.
    package var passOn: (@Sendable (ApiRequest) async throws -> TestConnectorResponse)?

    package init(
        limits: any AnswerLimits,
        passOn: (@Sendable (ApiRequest) async throws -> TestConnectorResponse)? = nil
    ) {
        self.limits = limits
        self.passOn = passOn
    }
}
