// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// A request that waits for its turn.
final class LimitWaiter: Sendable {
    let priority: CallPriority
    let deadline: Duration?
    private let turn = PendingResult<Int>()

    init(_ request: ApiRequest) {
        priority = request.priority
        deadline = request.deadline
    }

    /// Waits for the turn; returns the number of the started request.
    func outcome() async -> Result<Int, ApiConnectorError> { await turn.result() }

    func resume(with outcome: Result<Int, ApiConnectorError>) { turn.resume(with: outcome) }
}
