// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// A script's declarations, with the limits of its adapters.
package struct DeclarationList: Sendable {
    package private(set) var all: [Declaration] = []
    private var limits: [any AnswerLimits] = []

    init(_ declarations: [Declaration] = []) {
        all = declarations
    }

    /// Adds a declaration.
    ///
    /// - Returns: Its index, and an issue for each adapter that cannot express it.
    mutating func add(_ declaration: Declaration) -> (index: Int, refusals: [TestIssue]) {
        all.append(declaration)
        return (all.count - 1, limits.flatMap { $0.refusals(of: declaration, isLate: true) })
    }

    /// Adds an answer to a declaration.
    ///
    /// - Returns: An issue for each adapter that cannot express it.
    mutating func add(_ step: AnswerStep, to declaration: Int) -> [TestIssue] {
        all[declaration].steps.append(step)
        return limits.flatMap { $0.refusals(of: step, isLate: true) }
    }

    /// Adds the limits of an adapter, unless the adapter cannot express one of the declarations.
    ///
    /// - Returns: An issue for each declaration and answer that the adapter cannot express.
    package mutating func limit(by added: any AnswerLimits) -> [TestIssue] {
        let refusals = all.flatMap { added.refusals(of: $0, isLate: false) }
        if refusals.isEmpty { limits.append(added) }
        return refusals
    }

    /// Takes the next answer of a declaration, which counts as one use.
    mutating func takeStep(of declaration: Int) -> TakenStep? {
        guard let index = all[declaration].takeStep() else { return nil }
        return TakenStep(step: all[declaration].steps[index], declaration: declaration, index: index)
    }

    /// Counts an answer that another process has given.
    package mutating func countStep(_ step: Int, of declaration: Int) {
        guard hasStep(step, of: declaration) else { return }
        all[declaration].steps[step].givenCount += 1
    }

    /// A held answer; nil if the answer is not a held one.
    package func hold(_ declaration: Int, _ step: Int) -> Hold? {
        guard hasStep(step, of: declaration), case .held(let hold) = all[declaration].steps[step].answer else {
            return nil
        }
        return hold
    }

    private func hasStep(_ step: Int, of declaration: Int) -> Bool {
        all.indices.contains(declaration) && all[declaration].steps.indices.contains(step)
    }
}

/// An answer that a request gets, with the indices of its declaration and its step.
struct TakenStep: Sendable {
    let step: AnswerStep
    let declaration: Int
    let index: Int
}
