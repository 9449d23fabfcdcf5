// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

@testable import ApiConnectorTestServers
import ApiConnector
import Testing

@testable import ApiConnectorTesting

/// Waits in test doubles: their length, and their cleanup.
@Suite(.timeLimit(.minutes(10)))
struct EventualTests {}

extension EventualTests {
    @Test(arguments: [Duration.seconds(Int64.max), .seconds(400 * 365 * 86_400)])
    func aVeryLongLimitIsALimit(limit: Duration) async throws {
        let script = Script(for: Shop.self, in: .test)
        script.on(.tea(id: 1)).answer(Tea.green)
        async let next = script.nextRequest(within: limit)
        _ = try await script.connection().data(at: .tea(id: 1))
        #expect(try await next.number == 1)

        let gate = Gate(guardedFor: limit)
        async let opened: Void = gate.opened()
        Thread.detachNewThread { gate.open() }
        try await opened
    }

    @Test func aWaitForASleepTimesOutAndListsTheSleeps() async throws {
        let clock = ManualClock()
        func text() async -> String? {
            let error = await #expect(throws: (any Error).self) {
                try await clock.nextSleep(within: .milliseconds(1))
            }
            return error.map { "\($0)" }
        }
        let sentence = "no task began to sleep on the manual clock within 0.001 seconds; its time is"
        #expect(await text() == "\(sentence) 0.0 seconds, and no task sleeps")

        let sleepers = [30, 90].map { seconds in Task { try await clock.sleep(until: .seconds(seconds)) } }
        for _ in sleepers { _ = try await clock.nextSleep() }
        clock.advance(by: .seconds(5))
        let names = "25.0 seconds, 85.0 seconds left"
        #expect(await text() == "\(sentence) 5.0 seconds, and earlier calls have returned each sleep: \(names)")
        for sleeper in sleepers { sleeper.cancel() }
    }

    @Test func waitsAndLimitsAreDistinguished() async throws {
        let clock = ManualClock()
        let script = Script(for: Shop.self, in: .test)
        script.on(.tea(id: 1)).answer(.status(429, headers: ["Retry-After": "3"])).answer(Tea.green)
        let shop = NetworkConnector(
            environment: .test,
            provider: TestConnector(script).retrying(),
            router: Shop.self,
            configuration: ConnectionConfiguration(
                timeouts: Timeouts(attempt: .seconds(10), overall: .seconds(30)),
                timeSource: clock
            )
        )
        let call = Task { try await shop.data(at: .tea(id: 1)) }
        let wait = try await clock.nextSleep(of: .wait)
        #expect(wait >= .seconds(3) && wait < .seconds(4))
        #expect(try await clock.nextSleep(of: .limit) <= .seconds(30))
        clock.advance(by: wait)
        _ = try await call.value

        let sleeper = Task { try await clock.sleep(until: clock.now + .seconds(7)) }
        #expect(try await clock.nextSleep(of: .wait) == .seconds(7))
        let error = await #expect(throws: (any Error).self) {
            try await clock.nextSleep(of: .limit, within: .milliseconds(1))
        }
        #expect(
            "\(error as Any)".contains("for a limit")
                && "\(error as Any)".hasSuffix("; the other sleeps have 7.0 seconds left)"),
            "\(error as Any)"
        )
        sleeper.cancel()
    }

    @Test func eachWaitForASleepHasItsOwnLimit() async throws {
        let clock = ManualClock()
        let patient = Task { try await clock.nextSleep() }
        let endless = Task { try await clock.nextSleep(within: .seconds(Int64.max)) }
        for _ in 0..<3 {
            await #expect(throws: (any Error).self) { try await clock.nextSleep(within: .milliseconds(1)) }
        }
        let sleepers = [1, 2].map { seconds in Task { try await clock.sleep(until: .seconds(seconds)) } }
        #expect(Set([try await patient.value, try await endless.value]) == [.seconds(1), .seconds(2)])
        for sleeper in sleepers { sleeper.cancel() }

        let canceled = Task { try await clock.nextSleep() }
        canceled.cancel()
        await #expect(throws: CancellationError.self) { try await canceled.value }
    }

    @Test func aValueThatIsSetIsReturnedHoweverShortTheLimit() async throws {
        let script = Script(for: Shop.self, in: .test)
        script.on(.tea(id: 1)).answer(Tea.green)
        _ = try await script.connection().data(at: .tea(id: 1))
        #expect(try await script.nextRequest(within: .zero).number == 1)
    }

    @Test func aGateWithAVeryLongTimeoutReleasesAThread() throws {
        let gate = Gate(guardedFor: .seconds(Int64.max))
        Thread.detachNewThread { gate.open() }
        try gate.wait()
    }

    @Test func aBodyOfManyPartsIsWatchedOnce() async throws {
        let stopped = Eventual<ApiConnectorError>()
        let feed = BodyFeed()
        let clock = ManualClock()
        let pause = Pause(length: .seconds(1), timeSource: clock)
        for number in 0..<20 {
            async let sent: Void = feed.send(Data([UInt8(number)]))
            #expect(try await feed.next(orUntil: stopped) == Data([UInt8(number)]))
            try await sent
            async let over: Void = pause.wait(orUntil: stopped)
            _ = try await clock.nextSleep()
            clock.advance(by: .seconds(1))
            try await over
        }
        // The feed's own, for the whole body.
        #expect(stopped.waiterCount == 1)
    }

    @Test func aForgottenClosureIsNotCalledAndTheOthersAre() {
        let eventual = Eventual<Int>()
        let seen = Locked<[String]>([])
        eventual.whenSet { value in seen.withLock { $0.append("first \(value)") } }
        let second = eventual.whenSet { value in seen.withLock { $0.append("second \(value)") } }
        eventual.whenSet { value in seen.withLock { $0.append("third \(value)") } }
        eventual.forget(second)
        eventual.set(7)
        #expect(eventual.whenSet { value in seen.withLock { $0.append("late \(value)") } } == nil)
        #expect(seen.withLock { $0 } == ["first 7", "third 7", "late 7"])
    }

    #if os(Linux) || os(macOS)
    @Test func issuesAfterTheLastReadArePrinted() async throws {
        let result = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
            await lookAndLeave()
        }
        let text = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(text.contains("The test did not read these issues of "))
        #expect(text.contains("/teas/2"))
        #expect(!text.contains("/teas/1"))
    }
    #endif
}

/// Asks a script once for its issues, and releases it after the next.
private func lookAndLeave() async {
    let script = Script(for: Shop.self, in: .test)
    let shop = script.connection()
    _ = try? await shop.data(at: .tea(id: 1))
    #expect(script.issues.count == 1)
    _ = try? await shop.data(at: .tea(id: 2))
}
