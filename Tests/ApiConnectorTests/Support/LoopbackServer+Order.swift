// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting

extension LoopbackServer {
    /// A server that answers one request per connection, in order, and closes further connections.
    static func answering<Answer: Sendable>(
        _ answers: [Answer],
        _ send: @escaping @Sendable (Answer, LoopbackConnection) throws -> Void
    ) throws -> LoopbackServer {
        let left = Locked(answers[...])
        return try LoopbackServer { connection in
            guard try connection.readRequest() != nil, let answer = left.withLock({ $0.popFirst() }) else { return }
            try send(answer, connection)
        }
    }
}
