// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTesting
import Testing

@testable import ApiConnector

/// The watch against a model that knows the limits, the last progress and who waits.
@Suite(.timeLimit(.minutes(10))) struct AttemptWatchModelTests {}

extension AttemptWatchModelTests {
    @Test func stopsExactlyTheWaitersWhoseTimeoutIsReached() async throws {
        await SplitMix64.runs(SplitMix64.caseCount) { random in try await interleave(using: &random) }
    }

    /// A waiter and the limit that stopped it.
    private struct Stopped: Hashable {
        let waiter: Int
        let kind: ApiConnectorError.Kind
    }

    private struct Model {
        let attemptEnd, deadline, stall: Duration?
        var lastProgress = Duration.zero
        /// The waiters, each with whether its silence is limited.
        var waiters: [Int: Bool] = [:]

        /// The limits that have passed; one of them is the reason.
        func reasons(at now: Duration) -> Set<ApiConnectorError.Kind> {
            var reasons: Set<ApiConnectorError.Kind> = []
            if let attemptEnd, attemptEnd <= deadline ?? attemptEnd {
                if attemptEnd <= now { reasons.insert(.timedOut) }
            } else if let deadline, deadline <= now {
                reasons.insert(.deadlineExceeded)
            }
            if let stall, waiters.values.contains(true), now - lastProgress >= stall { reasons.insert(.stalled) }
            return reasons
        }
    }

    private func interleave(using random: inout SplitMix64) async throws {
        func chance(_ range: ClosedRange<Int>) -> Duration? {
            Bool.random(using: &random) ? .seconds(Int.random(in: range, using: &random)) : nil
        }
        let clock = ManualClock()
        let timers = TimerQueue.on(clock)
        let timeouts = Timeouts(attempt: chance(0...40), stall: chance(1...10))
        var model = Model(attemptEnd: timeouts.attempt, deadline: chance(0...40), stall: timeouts.stall)
        let watch = AttemptWatch(timeouts, deadline: model.deadline, timers: timers, guards: .on(SynchronousClock()))
        let log = EventLog<Stopped>()
        let told = EventLog<Bool>()
        var expected: Set<Stopped> = []
        var reason: ApiConnectorError.Kind?
        var numbers: [Int: Int] = [:]

        for waiter in 0..<Int.random(in: 1...30, using: &random) {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<3:
                let appliesStall = Bool.random(using: &random)
                numbers[waiter] = watch.attach(appliesStall: appliesStall) {
                    log.note(Stopped(waiter: waiter, kind: $0.kind))
                    told.note(true)
                }
                model.lastProgress = clock.now
                if let reason { expected.insert(Stopped(waiter: waiter, kind: reason)) }
                model.waiters[waiter] = appliesStall
            case 3..<5:
                guard let waiter = model.waiters.keys.sorted().randomElement(using: &random) else { continue }
                if let number = numbers[waiter] { watch.detach(number) }
                model.waiters[waiter] = nil
            case 5:
                guard let waiter = model.waiters.keys.sorted().randomElement(using: &random) else { continue }
                let appliesStall = Bool.random(using: &random)
                if let number = numbers[waiter], reason == nil { watch.applyStall(appliesStall, of: number) }
                model.waiters[waiter] = appliesStall
                model.lastProgress = clock.now
            case 6:
                watch.reportProgress()
                model.lastProgress = clock.now
            default:
                clock.advance(by: .seconds(Int.random(in: 0...6, using: &random)))
            }
            let reasons = reason == nil ? model.reasons(at: clock.now) : []
            if !reasons.isEmpty {
                if model.waiters.isEmpty {
                    // A waiter that comes now learns the reason at once, or as soon as the watch knows it.
                    numbers[waiter] = watch.attach(appliesStall: false) {
                        log.note(Stopped(waiter: waiter, kind: $0.kind))
                        told.note(true)
                    }
                    model.waiters[waiter] = false
                }
                try await told.happened([true])
                let found = try #require(log.events.first).kind
                try #require(reasons.contains(found), "\(found) and not \(reasons)")
                reason = found
                expected.formUnion(model.waiters.keys.map { Stopped(waiter: $0, kind: found) })
            }
            try await log.happened(expected)
            try #require(Set(log.events) == expected)
        }
        watch.end()
        clock.advance(by: .seconds(100))
        // No waiter is stopped twice, and no waiter after the end.
        let sentinel = EventLog<Bool>()
        _ = timers.add(at: clock.now) { sentinel.note(true) }
        try await sentinel.happened([true])
        try #require(log.events.count == expected.count)
    }
}
