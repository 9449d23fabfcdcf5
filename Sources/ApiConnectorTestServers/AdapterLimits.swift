// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting

/// The declarations that an adapter cannot express.
///
/// Each text says what cannot be expressed, why, and what to do instead.
struct AdapterLimits: AnswerLimits {
    /// Why the adapter does not support a matcher; nil if it does.
    let ofMatcher: @Sendable (MatcherForm) -> String?

    /// Why the adapter does not support a fixed answer; nil if it does.
    let ofResponse: @Sendable (TestConnectorResponse) -> String?

    /// Why the adapter does not support an answer that a closure makes; nil if it does.
    var ofClosure: String?

    /// Why the adapter ignores declarations that are made after the adapter; nil if it does not ignore them.
    var ofLateness: String?

    func refusals(of declaration: Declaration, isLate: Bool) -> [TestIssue] {
        let reason = (isLate ? ofLateness : nil) ?? ofMatcher(declaration.matcher.form)
        let own = reason.map { [TestIssue.refused(at: declaration.place, $0)] } ?? []
        return own + declaration.steps.flatMap { refusals(of: $0, isLate: isLate) }
    }

    func refusals(of step: AnswerStep, isLate: Bool) -> [TestIssue] {
        let reason = (isLate ? ofLateness : nil) ?? refusal(of: step.answer)
        return reason.map { [TestIssue.refused(at: step.place, $0)] } ?? []
    }

    func refusal(of response: TestConnectorResponse) -> String? { ofResponse(response) }

    private func refusal(of answer: AnswerStep.Answer) -> String? {
        switch answer {
        case .response(let response): ofResponse(response)
        case .computed: ofClosure
        case .held: nil
        }
    }

    /// Refuses matchers that need a route.
    ///
    /// Requests that arrive through an adapter have no route.
    static func routeless(_ adapter: String) -> @Sendable (MatcherForm) -> String? {
        { form in
            guard form.contains(\.isRouteClosure) else { return nil }
            return "its closure needs the route, and a request over \(adapter) has no route; "
                + "declare the route itself, or match by .method and .path"
        }
    }
}

extension TestConnectorResponse {
    /// The errors that the answer fails with, before its head or in its body; empty if it does not fail.
    var failures: [any Error] {
        switch answer {
        case .failure(let error): [error]
        case .broken(let error): [error]
        case .response(_, _, .steps(let steps)):
            steps.compactMap { if case .failure(let error) = $0 { error } else { nil } }
        case .response, .never: []
        }
    }

    /// Whether a test feeds the body while the client reads it.
    var isFed: Bool {
        guard case .response(_, _, .steps(let steps)) = answer else { return false }
        return steps.contains { if case .feed = $0 { true } else { false } }
    }
}

extension ApiConnectorError {
    /// The kind that a canned error is delivered as.
    static func kind(of error: any Error) -> Kind {
        ApiConnectorError(mapping: error, request: nil).kind
    }
}

extension AdapterLimits {
    /// Checks the declarations of an adapter's script: the existing ones now, and each later one when it is added.
    func attach(to engine: ScriptEngine) throws(UnsupportedScriptError) {
        let items = engine.state.withLock { $0.declarations.limit(by: self) }
        if !items.isEmpty { throw UnsupportedScriptError(items: items) }
    }
}
