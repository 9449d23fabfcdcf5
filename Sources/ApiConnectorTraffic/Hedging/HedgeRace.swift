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

    var isHedged = false
    private var first: Answer?
    private var second: Answer?
    private(set) var result: Answer?

    mutating func take(_ event: Event, _ policy: HedgePolicy) -> Step {
        guard case .answer(let answer, let isFirst) = event else {
            return first == nil && result == nil ? .hedge : .wait
        }
        if isFirst { first = answer } else { second = answer }
        // The race is over. The body of the losing response is discarded.
        if result != nil {
            answer.discardBody()
            return .wait
        }
        if policy.isGood(answer) || !isHedged || first != nil && second != nil {
            result = policy.isGood(answer) ? answer : first
            let other = isFirst ? second : first
            if policy.isGood(answer) { other?.discardBody() } else { second?.discardBody() }
            return .end
        }
        return .wait
    }
}

extension HedgePolicy {
    func isGood(_ answer: Result<ApiResponse, ApiConnectorError>) -> Bool {
        guard case .success(let response) = answer else { return false }
        return !statuses.contains(response.status)
    }
}
