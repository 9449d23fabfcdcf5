// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTesting
import Testing

@testable import ApiConnector

struct DeadlineTests {
    @Test(arguments: [Duration.zero, .seconds(-1)])
    func aRequestPastItsDeadlineIsNotSent(_ rest: Duration) async throws {
        let clock = ManualClock()
        let sent = EventLog<String>()
        let provider = TestConnector { request in
            sent.note("\(request.method)")
            return .status(204)
        }
        var request = ApiRequest(url: try #require(URL(string: "http://h/a")))
        request.timers = TimerQueue.on(clock)
        request.deadline = request.timeSource.now + rest
        let late = request
        let error = await #expect(throws: ApiConnectorError.self) {
            try await provider.attempt(late, within: .unlimited)
        }
        #expect(error?.kind == .deadlineExceeded)
        #expect(sent.events.isEmpty)
    }
}
