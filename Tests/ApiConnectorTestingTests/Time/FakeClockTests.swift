// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import ApiConnectorTraffic
import Testing

#if os(Linux) || os(macOS)
/// Everything in ApiConnector that waits uses the given clock, and nothing sleeps on another clock.
///
/// Each in its own process, in which Linux tells whether anything has ever slept for real. No time is measured.
@Suite(.timeLimit(.minutes(10))) struct FakeClockTests {}

extension FakeClockTests {
    @Test func checkE_aStalledCallTimesOutWithoutRealTime() async {
        await #expect(processExitsWith: .success) {
            try await Waits.forSilence()
            #expect(MachineSleeps.none)
        }
    }

    @Test func checkE_tenMinutesOfRetriesTakeNoRealTime() async {
        await #expect(processExitsWith: .success) {
            try await Waits.onALadder()
            #expect(MachineSleeps.none)
        }
    }

    @Test func checkE_everyWaitUsesTheVirtualClock() async {
        await #expect(processExitsWith: .success) {
            try await Waits.forABody()
            try await Waits.forAPlaceInTheRate()
            try await Waits.forAHedge()
            try await Waits.forARefresh()
            try await Waits.toResumeAStream()
            try await Waits.underFaults()
            #expect(MachineSleeps.none)
        }
    }

    #if os(Linux)
    @Test func aSleepOnTheMachinesClockIsDetected() async {
        await #expect(processExitsWith: .success) {
            #expect(MachineSleeps.none)
            let sleeper = Task { try await SystemTimeSource().sleep(until: .seconds(3_600)) }
            while MachineSleeps.none { await Task.yield() }
            sleeper.cancel()
            _ = await sleeper.result
            #expect(!MachineSleeps.none)
        }
    }
    #endif
}

/// The sleeps of this process in real time.
private enum MachineSleeps {
    /// Whether no task of this process has ever slept on a clock of the machine, for however short a time.
    ///
    /// Dispatch, on which Swift's tasks sleep, asks the kernel for a timer of each clock that is slept on, and keeps it
    /// for as long as the process lives. Its own look at its threads, and the limits of a test's waits, are on another
    /// clock, which never ends a sleep of a task.
    ///
    /// True on other systems, where this cannot be measured.
    static var none: Bool {
        #if os(Linux)
        let folder = URL(filePath: "/proc/self/fdinfo")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path())) ?? []
        // A name may be that of the folder itself, which is closed by now.
        let texts = names.compactMap { try? String(contentsOf: folder.appending(path: $0), encoding: .utf8) }
        let clocks = texts.compactMap { $0.firstMatch(of: #/clockid: (\d+)/#).flatMap { Int32($0.1) } }
        return !names.isEmpty && clocks.allSatisfy { $0 == CLOCK_MONOTONIC }
        #else
        true
        #endif
    }
}
#endif

extension ManualClock {
    /// Runs a body, and advances the clock whenever a task sleeps.
    fileprivate func moving<Value>(_ body: () async throws -> Value) async throws -> Value {
        let mover = Task { while true { advance(by: try await nextSleep(within: .seconds(Int64.max))) } }
        defer { mover.cancel() }
        return try await body()
    }
}

/// Everything in the library that waits, one function each.
private enum Waits {
    private static func shop<Provider: DataRequestType>(
        over provider: Provider,
        _ clock: ManualClock,
        _ timeouts: Timeouts = .unlimited
    ) -> NetworkConnector<Provider, Shop> {
        let configuration = ConnectionConfiguration(timeouts: timeouts, timeSource: clock)
        return NetworkConnector(environment: .test, provider: provider, configuration: configuration)
    }

    /// A server that says nothing, and a limit of a minute.
    static func forSilence() async throws {
        let clock = ManualClock()
        let script = Script(for: Shop.self, in: .test)
        script.on(.tea(id: 1)).answer(.never)
        let timeouts = Timeouts(attempt: .seconds(60), stall: Timeouts.noLimit, overall: nil)
        let shop = script.connection(ConnectionConfiguration(timeouts: timeouts, timeSource: clock))
        let call = Task { try await shop.data(at: .tea(id: 1)) }
        #expect(try await clock.nextSleep() == .seconds(60))
        _ = try await script.nextRequest()
        clock.advance(by: .seconds(60))
        let error = await #expect(throws: ApiConnectorError.self) { try await call.value }
        #expect(error?.kind == .timedOut)
        #expect(error?.elapsed == .seconds(60))
        #expect(await script.end().isEmpty)
    }

    /// Retries, a server's wish, limits of time and a slow answer: more than twelve minutes.
    static func onALadder() async throws {
        let clock = ManualClock()
        let script = Script(for: Shop.self, in: .test)
        script.on(.tea(id: 1))
            .answer(.status(503), times: 8)
            .answer(.status(429, headers: ["Retry-After": "200"]))
            .answer(.json(Tea.green).after(.seconds(5), on: clock))
        let policy = RetryPolicy(
            maximumAttemptCount: 10,
            maximumDuration: nil,
            initialDelay: .seconds(4),
            maximumDelay: .seconds(300),
            maximumRetryAfter: .seconds(300),
            random: { 0.5 }
        )
        let shop = shop(over: TestConnector(script).retrying(policy).timeLimiting(overall: .seconds(3_600)), clock)
        let call = Task { try await shop.value(Tea.self, at: .tea(id: 1)) }
        for seconds in [2, 4, 8, 16, 32, 64, 128, 150, 350, 5] {
            // The limit of time sleeps, too.
            while try await clock.nextSleep() != .seconds(seconds) {}
            clock.advance(by: .seconds(seconds))
        }
        #expect(try await call.value == .green)
        #expect(clock.now == .seconds(759))
        #expect(await script.end().isEmpty)
    }

    /// A slow line, and one that falls silent.
    static func forABody() async throws {
        let clock = ManualClock()
        let body = TestConnectorResponse.json(Tea.green).chunked(byteCount: 4)
        let slow = shop(over: TestConnector { _ in body.pausing(.seconds(600), on: clock) }, clock)
        #expect(try await clock.moving { try await slow.value(Tea.self, at: .tea(id: 1)) } == .green)
        #expect(clock.now >= .seconds(3_000))

        let limit = Timeouts(attempt: nil, stall: .seconds(60), overall: nil)
        let silent = shop(over: TestConnector { _ in .feed(BodyFeed()) }, clock, limit)
        let kind = try await clock.moving {
            await ApiConnectorError.kind { () async throws(ApiConnectorError) in
                _ = try await silent.data(at: .tea(id: 1))
            }
        }
        #expect(kind == .stalled)
    }

    static func forAPlaceInTheRate() async throws {
        let clock = ManualClock()
        let shop = NetworkConnector(
            environment: .test,
            provider: TestConnector { _ in .status(204) }.limiting(
                RequestLimit(rate: RequestRate(1, per: .seconds(60)))
            ),
            router: Shop.self,
            configuration: ConnectionConfiguration(timeouts: .unlimited, timeSource: clock)
        )
        try await clock.moving {
            for _ in 1...4 { try await shop.send(at: .tea(id: 1)) }
        }
        #expect(clock.now == .seconds(180))
    }

    static func forAHedge() async throws {
        let clock = ManualClock()
        let script = Script(for: Shop.self, in: .test)
        script.on(.tea(id: 1)).answer(.never).answer(Tea.green)
        let policy = HedgePolicy(percentile: nil, delay: .seconds(120))
        let shop = shop(over: TestConnector(script).hedging(policy), clock)
        #expect(try await clock.moving { try await shop.value(Tea.self, at: .tea(id: 1)) } == .green)
        #expect(clock.now == .seconds(120))
        #expect(await script.end().isEmpty)
    }

    static func forARefresh() async throws {
        let clock = ManualClock()
        let end = Gate("end of the refresh")
        defer { end.open() }
        let credentials = RefreshableCredentials(timeLimit: .seconds(300), timeSource: clock) { _ in
            try await end.opened()
            return .bearer("late")
        }
        let shop = shop(over: TestConnector { _ in .status(204) }.authenticating(by: credentials), clock)
        let kind = try await clock.moving {
            await ApiConnectorError.kind { () async throws(ApiConnectorError) in try await shop.send(at: .tea(id: 1)) }
        }
        #expect(kind == .credentialsUnavailable)
        #expect(clock.now == .seconds(300))
    }

    static func toResumeAStream() async throws {
        let clock = ManualClock()
        let script = Script(for: Shop.self, in: .test)
        let events = ["retry: 30000\nid: 1\ndata: green\n\n", "id: 2\ndata: black\n\n"].map { text in
            TestConnectorResponse.data(Data(text.utf8), headers: ["Content-Type": "text/event-stream"])
        }
        script.on(.teas(page: 1)).answer(events[0]).answer(events[1]).answer(.status(204))
        let shop = shop(over: TestConnector(script), clock)
        let stream = shop.stream(of: ServerSentEvent.self, at: .teas(page: 1), as: .events.resuming())
        let seen = try await clock.moving {
            var seen: [String] = []
            for try await event in stream { seen.append(event.data) }
            return seen
        }
        #expect(seen == ["green", "black"])
        #expect(clock.now >= .seconds(60))
        #expect(await script.end().isEmpty)
    }

    /// Stalls, timeouts and waits between attempts, on the clocks of the runs.
    static func underFaults() async throws {
        let count = try await FaultTest.everySingleFault { run in
            let shop = run.shop(over: TestConnector { _ in .json(Tea.green) }.injecting(run).retrying())
            let tea = try? await shop.value(Tea.self, at: .tea(id: 1))
            if tea == nil, !run.isFinal { throw CancellationError() }
        }
        #expect(count > 10)
    }
}
