// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTesting
import Testing

@testable import ApiConnector

/// The queue against a dictionary of due times.
@Suite(.timeLimit(.minutes(10))) struct TimerQueueModelTests {}

extension TimerQueueModelTests {
    @Test func runsEachDueActionOnce() async throws {
        await SplitMix64.runs(SplitMix64.caseCount) { random in try await interleave(using: &random) }
    }

    private func interleave(using random: inout SplitMix64) async throws {
        let clock = ManualClock()
        let queue = TimerQueue.on(clock)
        let ran = EventLog<Int>()
        var pending: [Int: (due: Duration, entry: TimerQueue.Entry)] = [:]
        var over: [TimerQueue.Entry] = []
        var expected: Set<Int> = []

        for step in 0..<Int.random(in: 1...40, using: &random) {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                let due = clock.now + .seconds(Int.random(in: -2...20, using: &random))
                let entry = queue.add(at: due) { ran.note(clock.now >= due ? step : -1) }
                pending[step] = (due, entry)
            case 5..<7:
                guard let number = pending.keys.sorted().randomElement(using: &random) else { continue }
                pending.removeValue(forKey: number).map { queue.remove($0.entry) }
            case 7:
                over.randomElement(using: &random).map { queue.remove($0) }
            default:
                clock.advance(by: .seconds(Int.random(in: 0...8, using: &random)))
            }
            for (number, timer) in pending where timer.due <= clock.now {
                pending[number] = nil
                over.append(timer.entry)
                expected.insert(number)
            }
            try await ran.happened(expected)
        }
        clock.advance(by: .seconds(100))
        try await ran.happened(expected.union(pending.keys))
        try #require(ran.events.sorted() == expected.union(pending.keys).sorted())
    }

    @Test func runsWhatIsDueAtOneTimeInTheOrderOfTheirTimes() async throws {
        let clock = ManualClock()
        let queue = TimerQueue.on(clock)
        let ran = EventLog<Int>()
        var random = SplitMix64.printed()
        let times = Array(1...200).shuffled(using: &random)
        let entries = times.map { time in (time, queue.add(at: .seconds(time)) { ran.note(time) }) }
        // Enough of them to have the heap rebuilt.
        for (time, entry) in entries where time % 3 != 0 { queue.remove(entry) }
        clock.advance(by: .seconds(1000))
        let expected = times.filter { $0 % 3 == 0 }.sorted()
        try await ran.happened(Set(expected))
        #expect(ran.events == expected)
    }

    @Test func sleepsForTheNextOneOnly() async throws {
        let clock = ManualClock()
        let queue = TimerQueue.on(clock)
        let ran = EventLog<Int>()
        let times = [30, 20, 10]
        for time in times {
            _ = queue.add(at: .seconds(time)) { ran.note(time) }
            #expect(try await clock.nextSleep() == .seconds(time))
        }
        clock.advance(by: .seconds(10))
        #expect(try await clock.nextSleep() == .seconds(10))
        #expect(clock.sleeperCount == 1)
        clock.advance(by: .seconds(20))
        try await ran.happened([10, 20, 30])
    }
}
