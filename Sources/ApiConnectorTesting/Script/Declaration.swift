// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector

/// A matcher, and the answers to the requests that it matches.
///
/// The answers are steps in sequence.
package struct Declaration: Sendable {
    package let matcher: RequestMatcher
    package let place: CodeLocation
    package var steps: [AnswerStep]

    package init(matcher: RequestMatcher, place: CodeLocation, steps: [AnswerStep] = []) {
        self.matcher = matcher
        self.place = place
        self.steps = steps
    }

    var nextStep: Int? { steps.firstIndex { $0.givenCount < $0.count.maximum } }

    /// Uses the next step, and returns its index.
    mutating func takeStep() -> Int? {
        guard let next = nextStep else { return nil }
        steps[next].givenCount += 1
        return next
    }

    /// The held answers that were requested but not released.
    var unreleased: [Hold] {
        steps.compactMap { step in
            guard case .held(let hold) = step.answer, hold.isAwaited else { return nil }
            return hold
        }
    }
}

/// One answer of a sequence.
package struct AnswerStep: Sendable {
    package enum Answer: Sendable {
        case response(TestConnectorResponse)
        case computed(@Sendable (RecordedRequest) async throws -> TestConnectorResponse)
        case held(Hold)
    }

    package let answer: Answer
    package let count: AnswerCount
    package let place: CodeLocation
    package var givenCount: Int

    package init(answer: Answer, count: AnswerCount, place: CodeLocation, givenCount: Int = 0) {
        self.answer = answer
        self.count = count
        self.place = place
        self.givenCount = givenCount
    }

    /// Whether the answer is fixed, not computed or held.
    var isCanned: Bool { if case .response = answer { true } else { false } }

    /// A short description for a list of answers.
    var summary: String {
        switch answer {
        case .response(let response): response.summary
        case .computed: "computed"
        case .held: "held"
        }
    }
}

/// An answer that waits for the test.
package final class Hold: Sendable {
    package let place: CodeLocation
    package let arrival = Eventual<RecordedRequest>()
    package let answer = Eventual<TestConnectorResponse>()
    private let awaited = Locked(false)

    package init(at place: CodeLocation) {
        self.place = place
    }

    /// Whether a request is waiting for the answer now.
    package var isAwaited: Bool {
        get { awaited.withLock { $0 } }
        set { awaited.withLock { $0 = newValue } }
    }
}

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
