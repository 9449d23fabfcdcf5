// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

/// Where a call's time limits come from: `nil` is a limit that is not set.
@Suite(.timeLimit(.minutes(10))) struct TimeoutPrecedenceTests {}

extension TimeoutPrecedenceTests {
    private static let connection = Timeouts(attempt: .seconds(3), stall: .seconds(2), overall: .seconds(9))

    /// The timeouts of a call, those of its connection, and those that a provider gets.
    private static let rows: [(Timeouts?, Timeouts, Timeouts)] = [
        (nil, Timeouts(), Timeouts(stall: .seconds(60))),
        (nil, Timeouts(attempt: .seconds(3)), Timeouts(attempt: .seconds(3), stall: .seconds(60))),
        (nil, .unlimited, Timeouts()),
        (nil, connection, connection),
        (
            Timeouts(overall: .seconds(5)), connection,
            Timeouts(attempt: .seconds(3), stall: .seconds(2), overall: .seconds(5))
        ),
        (
            Timeouts(attempt: Timeouts.noLimit), connection,
            Timeouts(stall: .seconds(2), overall: .seconds(9))
        ),
        (.unlimited, connection, Timeouts()),
        (Timeouts(stall: .seconds(4)), .unlimited, Timeouts(stall: .seconds(4))),
    ]

    @Test(arguments: rows) func theCallTakesPrecedenceOverItsConnection(_ row: (Timeouts?, Timeouts, Timeouts))
        async throws
    {
        let seen = Locked<[(Timeouts, Duration?)]>([])
        let transport = TestConnector { request in
            seen.withLock { $0.append((request.timeouts, request.deadline)) }
            return .json(["ok"])
        }
        let api = NetworkConnector<_, Endpoint<ApiPath>>(
            environment: Place(),
            provider: transport,
            configuration: ConnectionConfiguration(timeouts: row.1, timeSource: ManualClock())
        )
        var options = CallOptions()
        options.timeouts = row.0
        _ = try await api.data(at: Endpoint(path: "/a"), options: options)
        let (timeouts, deadline) = try #require(seen.withLock { $0.first })
        #expect(timeouts == row.2)
        #expect(deadline == row.2.overall)
    }
}
