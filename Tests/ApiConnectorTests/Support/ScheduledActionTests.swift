// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

/// Actions that a time source runs at a given time.
@Suite(.timeLimit(.minutes(10))) struct ScheduledActionTests {}

extension ScheduledActionTests {
    @Test func runsAtItsTime() async throws {
        let clock = ManualClock()
        let ran = EventLog<Int>()
        _ = clock.schedule(at: .seconds(5)) { ran.note(5) }
        #expect(try await clock.nextSleep() == .seconds(5))
        clock.advance(by: .seconds(4))
        #expect(clock.sleeperCount == 1)
        #expect(ran.events.isEmpty)
        clock.advance(by: .seconds(1))
        try await ran.happened([5])
    }

    @Test func doesNotRunAfterACancel() async throws {
        let clock = ManualClock()
        let ran = EventLog<Int>()
        let takeBack = clock.schedule(at: .seconds(5)) { ran.note(5) }
        #expect(try await clock.nextSleep() == .seconds(5))
        takeBack()
        _ = clock.schedule(at: .seconds(6)) { ran.note(6) }
        #expect(try await clock.nextSleep() == .seconds(6))
        clock.advance(by: .seconds(6))
        try await ran.happened([6])
        takeBack()
        #expect(ran.events == [6])
    }

    @Test func isALimitOfACallAndASleepIsAWait() async throws {
        let clock = TellingClock()
        let answers = TestConnector { _ in .status(503) }
        let api = NetworkConnector(
            environment: Place(),
            provider: answers.retrying(RetryPolicy(maximumAttemptCount: 2, random: { 1 })),
            router: Endpoint<ApiPath>.self,
            configuration: ConnectionConfiguration(timeouts: Timeouts(overall: .seconds(60)), timeSource: clock)
        )
        let error = await #expect(throws: ApiConnectorError.self) {
            try await api.send(at: Endpoint<ApiPath>(path: "/"))
        }
        #expect(error?.kind == .unacceptableStatus)
        #expect(clock.scheduled.events == [.seconds(60)])
        #expect(clock.slept.events == [.milliseconds(500)])
    }
}

/// Tells apart what it is asked for; a task that sleeps is woken at once, and no limit is ever reached.
private final class TellingClock: TimeSource {
    let scheduled = EventLog<Duration>()
    let slept = EventLog<Duration>()

    var now: Duration { .zero }
    var date: Date { Date(timeIntervalSince1970: 0) }

    func sleep(until deadline: Duration) async throws { slept.note(deadline) }

    func schedule(at due: Duration, _ action: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        scheduled.note(due)
        return {}
    }
}
