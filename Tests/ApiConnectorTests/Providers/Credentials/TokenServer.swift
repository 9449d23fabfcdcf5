// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting

/// A server that accepts one token at a time, and returns the next: `t1`, `t2` and so on.
final class TokenServer: Sendable {
    private struct State {
        var accepted = "t1"
        var lastNumber = 1
        var refreshCount = 0
        var seen: [String] = []
    }

    private let state = Locked(State())

    /// The credentials that came, in order.
    var seen: [String] { state.withLock { $0.seen } }
    var refreshCount: Int { state.withLock { $0.refreshCount } }

    /// From now on no token that it has returned is good.
    func expire() {
        state.withLock { $0.accepted = "none" }
    }

    func answer(_ request: ApiRequest) -> TestConnectorResponse {
        let shown = request.headers[.authorization].map { String($0.dropFirst("Bearer ".count)) } ?? "-"
        let isAccepted = state.withLock { state in
            state.seen.append(shown)
            return shown == state.accepted
        }
        return isAccepted ? .data(Data("welcome".utf8)) : .data(Data("who are you?".utf8), status: 401)
    }

    /// A new token, which alone is good.
    func refresh() -> String {
        state.withLock { state in
            state.refreshCount += 1
            state.lastNumber += 1
            state.accepted = "t\(state.lastNumber)"
            return state.accepted
        }
    }

    var provider: TestConnector<ClosureResponses> { TestConnector { [self] in answer($0) } }
}

extension DataRequestType {
    /// A connection to `http://localhost:80` over this provider.
    func connected(_ timeouts: Timeouts = Timeouts(), on clock: ManualClock) -> NetworkConnector<AnyProvider, Router> {
        let configuration = ConnectionConfiguration(timeouts: timeouts, timeSource: clock)
        return NetworkConnector(environment: .localhost, provider: AnyProvider(self), configuration: configuration)
    }
}
