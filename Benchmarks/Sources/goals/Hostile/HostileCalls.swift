// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Synchronization

/// Calls a hostile server repeatedly until the process ends.
final class HostileCalls: Sendable {
    private let state = Mutex((count: 0, server: RawServer?.none))

    /// The number of started calls.
    var count: Int { state.withLock { $0.count } }

    func start(_ fixture: HostileFixture, over provider: AnyProvider, atOnce: Int) throws {
        let server = try RawServer { fixture.serve($0) }
        state.withLock { $0.server = server }
        for _ in 0..<atOnce {
            Task.detached { [self] in
                while true {
                    state.withLock { $0.count += 1 }
                    await fixture.call(server.url("/small"), over: provider)
                }
            }
        }
    }
}
