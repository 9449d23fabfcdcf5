// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// A matcher, and the answers to the requests that it matches.
///
/// The answers are steps in sequence.
struct Declaration: Sendable {
    let matcher: RequestMatcher
    let place: CodeLocation
    var steps: [AnswerStep] = []

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
struct AnswerStep: Sendable {
    enum Answer: Sendable {
        case response(TestConnectorResponse)
        case computed(@Sendable (RecordedRequest) async throws -> TestConnectorResponse)
        case held(Hold)
    }

    let answer: Answer
    let count: AnswerCount
    let place: CodeLocation
    var givenCount = 0

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
final class Hold: Sendable {
    let place: CodeLocation
    let arrival = Eventual<RecordedRequest>()
    let answer = Eventual<TestConnectorResponse>()
    private let awaited = Locked(false)

    init(at place: CodeLocation) {
        self.place = place
    }

    /// Whether a request is waiting for the answer now.
    var isAwaited: Bool {
        get { awaited.withLock { $0 } }
        set { awaited.withLock { $0 = newValue } }
    }
}
