// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ArgumentParser
import Foundation
import Servers
import Synchronization

/// The proof with 8 processes and one limit in one Redis.
///
/// In no time window may the backend get more calls than the limit and a slack allow.
struct LimitProof {
    let callCount: Int
    let load: LoadOptions
    /// Whether Redis is restarted, suspended and flushed during the run.
    let isDisturbed: Bool

    func run() async throws -> [String] {
        let redis = try Redis()
        let arrivals = Arrivals()
        let backend = try await Backend { _ in
            arrivals.add()
            return Backend.Answer()
        }
        let count = LoadOptions.processCount
        let start = ContinuousClock.now
        let children = try (0..<count).map { number in
            try Child(
                [
                    "limit-worker", "--port", "\(backend.port)", "--store", redis.address,
                    "--call-count", "\(callCount / count + (number < callCount % count ? 1 : 0))",
                ] + load.arguments
            )
        }
        defer { for child in children { child.kill() } }
        if isDisturbed { try await disturb(redis, arrivals) }
        var counts = CallCounts()
        var problems: [String] = []
        for child in children {
            let end = try await child.waitForEnd()
            if end.status == 0, let part = try? JSONDecoder().decode(CallCounts.self, from: Data(end.text.utf8)) {
                counts.add(part)
            } else {
                problems.append("a process ended with signal \(end.signal), status \(end.status): \(end.text)")
            }
        }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        problems += judge(counts, arrivals.times, seconds)
        if !isDisturbed { problems += try judgeRoundTrips(redis) }
        return problems
    }

    private func disturb(_ redis: Redis, _ arrivals: Arrivals) async throws {
        let end = ContinuousClock.now + .seconds(600)
        func wait(for share: Double) async throws {
            while Double(arrivals.count) < Double(callCount) * share, ContinuousClock.now < end {
                try await Task.sleep(for: .milliseconds(10))
            }
        }
        try await wait(for: 0.1)
        try redis.restart()
        print("  at \(arrivals.count) calls: Redis killed and started again")
        try await wait(for: 0.3)
        try redis.suspend()
        print("  at \(arrivals.count) calls: Redis stopped by a signal")
        try await Task.sleep(for: .seconds(5))
        try redis.resume()
        print("  at \(arrivals.count) calls: it goes on")
        try await wait(for: 0.8)
        try redis.run("-n 1 flushall")
        print("  at \(arrivals.count) calls: Redis flushed")
    }

    private func judge(_ counts: CallCounts, _ times: [UInt64], _ seconds: Double) -> [String] {
        var problems = counts.failures.prefix(3).map { "a call failed: \($0)" }
        print(
            "  \(counts.successCount) calls answered in \(Self.text(seconds)) s, \(Int(Double(times.count) / seconds))"
                + " a second; limit: \(load.rate) a second"
        )
        print(
            "  \(counts.lateCount) calls with a deadline of 0.1 s could not start before it,"
                + " \(counts.failures.count) failed otherwise"
        )
        print(
            "  longest call \(Self.text(counts.longestCall)) s, longest time after a deadline"
                + " \(Self.text(counts.longestExcess)) s"
        )
        let endedCount = counts.successCount + counts.lateCount + counts.failures.count
        if endedCount != callCount { problems.append("\(callCount) calls were made, and \(endedCount) ended") }
        // A call whose deadline passed after it was sent may also have arrived.
        if !(counts.successCount...counts.successCount + counts.lateCount).contains(times.count) {
            problems.append("\(counts.successCount) calls were answered, and \(times.count) arrived")
        }
        // One second is allowed, because a busy machine may itself be late.
        if counts.longestExcess > 1 { problems.append("a call ended \(counts.longestExcess) s after its deadline") }
        let processes = LoadOptions.processCount
        // The slack is the tokens that the processes hold, and the calls that have started but not yet arrived.
        let slack = processes * LoadOptions.batchCount * 3 / 2 + processes * LoadOptions.callerCount
        for milliseconds in [100, 1000, 10_000] {
            let most = Self.most(of: times, in: UInt64(milliseconds) * 1_000_000)
            var bound = load.rate * milliseconds / 1000 + load.burst + slack
            // Some processes may use their share of the rate while others use the bucket, which is full after Redis has
            // lost its data.
            if isDisturbed { bound += load.rate * milliseconds / 1000 + load.burst + slack }
            print("  most calls in \(milliseconds) ms: \(most); at most \(bound)")
            if most > bound { problems.append("\(most) calls in \(milliseconds) ms, and \(bound) are allowed") }
        }
        if !isDisturbed, Double(times.count) < Double(load.rate) * seconds / 2 {
            print("  note: the machine is slower than half the limit, so that this says little")
        }
        return problems
    }

    private func judgeRoundTrips(_ redis: Redis) throws -> [String] {
        let statistics = try redis.run("info commandstats")
        let count = statistics.firstMatch(of: /cmdstat_evalsha:calls=(\d+)/).flatMap { Int($0.1) } ?? 0
        print("  \(count) round trips to Redis, one in \(callCount / max(count, 1)) calls")
        // At first, a process takes only a few tokens at a time.
        let bound = callCount / 100 + LoadOptions.processCount * 12
        if load.isUnshared || count <= bound { return [] }
        return ["\(count) round trips, and \(bound) are allowed"]
    }

    /// The largest number of arrivals in a half-open time window.
    private static func most(of times: [UInt64], in length: UInt64) -> Int {
        var most = 0
        var first = 0
        for (index, time) in times.enumerated() {
            while times[first] + length <= time { first += 1 }
            most = max(most, index - first + 1)
        }
        return most
    }

    private static func text(_ seconds: Double) -> String { String(format: "%.2f", seconds) }
}

/// The times at which calls arrived, in nanoseconds.
private final class Arrivals: Sendable {
    private let state = Mutex<[UInt64]>([])

    var times: [UInt64] { state.withLock { $0.sorted() } }
    var count: Int { state.withLock { $0.count } }

    func add() {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        state.withLock { $0.append(UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)) }
    }
}

extension Redis {
    /// The server's address, with database 1.
    var address: String { "redis://:\(Redis.password)@127.0.0.1:\(port)/1" }
}
