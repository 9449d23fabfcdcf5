// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A request that waits for its turn.
final class LimitWaiter: Sendable {
    let priority: CallPriority
    let deadline: Duration?
    private let turn = Waiter<Void>()

    init(_ request: ApiRequest) {
        priority = request.priority
        deadline = request.deadline
    }

    func outcome() async -> Result<Void, ApiConnectorError> { await turn.outcome() }

    func resume(with outcome: Result<Void, ApiConnectorError>) { turn.resume(with: outcome) }
}
