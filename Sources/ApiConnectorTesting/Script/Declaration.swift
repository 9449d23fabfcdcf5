// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

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
