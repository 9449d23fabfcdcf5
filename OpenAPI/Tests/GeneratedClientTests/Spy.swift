// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Synchronization

/// Records the requests that a provider gets.
final class Spy: Sendable {
    private let requests = Mutex<[ApiRequest]>([])
    private let response: @Sendable (ApiRequest) -> TestConnectorResponse

    init(_ response: @escaping @Sendable (ApiRequest) -> TestConnectorResponse = { _ in .json(["ok": true]) }) {
        self.response = response
    }

    var seen: [ApiRequest] { requests.withLock { $0 } }

    var provider: AnyProvider {
        AnyProvider(
            TestConnector { request in
                self.requests.withLock { $0.append(request) }
                return self.response(request)
            }
        )
    }
}
