// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// What an adapter cannot express; the sentence says what, why, and what to do instead.
struct AdapterLimits: AnswerLimits {
    /// Why it does not carry a matcher; nil where it does.
    let ofMatcher: @Sendable (MatcherForm) -> String?

    /// Why it does not carry an answer that is known; nil where it does.
    let ofResponse: @Sendable (TestConnectorResponse) -> String?

    /// Why it does not carry an answer that a closure makes; nil where it does.
    var ofClosure: String?

    /// Why it takes nothing that is declared after it was made; nil where it does.
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

    /// Requests that reach an adapter from code which knows nothing of routes have none.
    static func routeless(_ adapter: String) -> @Sendable (MatcherForm) -> String? {
        { form in
            guard form.contains(\.isRouteClosure) else { return nil }
            return "its closure needs the route, and a request over \(adapter) has no route; "
                + "declare the route itself, or match by .method and .path"
        }
    }
}

extension TestConnectorResponse {
    /// The errors that it fails with, before its head or in its body; none for one that does not fail.
    var failures: [any Error] {
        switch answer {
        case .failure(let error): [error]
        case .broken(let error): [error]
        case .response(_, _, .steps(let steps)):
            steps.compactMap { if case .failure(let error) = $0 { error } else { nil } }
        case .response, .never: []
        }
    }

    /// Whether a test writes its body while it is read.
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
    /// Checks a script that is handed to an adapter, and what is declared in it from now on.
    func attach(to engine: ScriptEngine) throws(UnsupportedScriptError) {
        let items = engine.state.withLock { $0.declarations.limit(by: self) }
        if !items.isEmpty { throw UnsupportedScriptError(items: items) }
    }
}
