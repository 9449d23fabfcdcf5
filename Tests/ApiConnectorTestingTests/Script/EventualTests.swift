// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Testing

@testable import ApiConnectorTesting

/// What waits in a test double: for how long, and what it leaves behind.
@Suite(.timeLimit(.minutes(2)))
struct EventualTests {
    @Test(arguments: [Duration.seconds(Int64.max), .seconds(400 * 365 * 86_400)])
    func aLimitOfAgesIsALimit(limit: Duration) async throws {
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

    @Test func aGateGuardedForAgesLetsAThreadThrough() throws {
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

    @Test func whoeverForgetsIsNotCalledAndTheOthersAre() {
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
    @Test func verdictsThatCameAfterTheLastLookAreWrittenDown() async throws {
        let result = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
            await lookAndLeave()
        }
        let text = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(text.contains("for these verdicts:\n"))
        #expect(text.contains("/teas/2"))
        #expect(!text.contains("/teas/1"))
    }
    #endif
}

/// Asks a script once for its verdicts, and lets go of it after the next.
private func lookAndLeave() async {
    let script = Script(for: Shop.self, in: .test)
    let shop = script.connection()
    _ = try? await shop.data(at: .tea(id: 1))
    #expect(script.verdicts.count == 1)
    _ = try? await shop.data(at: .tea(id: 2))
}
