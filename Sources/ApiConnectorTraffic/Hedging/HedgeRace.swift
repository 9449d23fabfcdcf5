// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// Decides which of two requests wins.
struct HedgeRace {
    typealias Answer = Result<ApiResponse, ApiConnectorError>

    enum Event: Sendable {
        case answer(Answer, isFirst: Bool)
        case isLate
    }

    enum Step {
        case wait, hedge, end
    }

    /// How much an answer says about the call, from the least.
    private enum Rank: Comparable {
        case none, failed
        /// A status that the other request causes when it succeeds: both delete a resource, and one of them gets a 404.
        case refused
        case good
    }

    var isHedged = false
    /// The statuses that a write may get because an equal one has succeeded or is still running.
    private static let refusals: Set<HTTPStatus> = [404, 409, 410, 412]

    private let policy: HedgePolicy
    private let isSafe: Bool
    private var first: Answer?
    private var second: Answer?
    private(set) var result: Answer?

    init(_ policy: HedgePolicy, isSafe: Bool) {
        self.policy = policy
        self.isSafe = isSafe
    }

    mutating func take(_ event: Event) -> Step {
        guard case .answer(let answer, let isFirst) = event else {
            return first == nil && result == nil ? .hedge : .wait
        }
        if isFirst { first = answer } else { second = answer }
        // The race is over. The body of the losing response is discarded.
        if result != nil {
            answer.discardBody()
            return .wait
        }
        guard rank(of: answer) == .good || !isHedged || first != nil && second != nil else { return .wait }
        let isSecondBetter = rank(of: second) > rank(of: first)
        result = isSecondBetter ? second : first
        (isSecondBetter ? first : second)?.discardBody()
        return .end
    }

    private func rank(of answer: Answer?) -> Rank {
        guard let answer else { return .none }
        guard policy.isGood(answer), case .success(let response) = answer else { return .failed }
        return isSafe || !Self.refusals.contains(response.status) ? .good : .refused
    }
}

extension HedgePolicy {
    func isGood(_ answer: Result<ApiResponse, ApiConnectorError>) -> Bool {
        guard case .success(let response) = answer else { return false }
        return !statuses.contains(response.status)
    }
}
