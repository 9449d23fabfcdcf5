// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Foundation
import Servers

/// The proof with several processes and one limit in one Redis.
///
/// In no time window may the backend get more calls than the limit and a slack allow.
struct LimitProof {
    let callCount: Int
    let load: Load
    /// When Redis is restarted, suspended and flushed; nil if it is not disturbed.
    var disturbances: Disturbances?

    func run() async throws -> [String] {
        let redis = try Redis()
        let arrivals = Arrivals()
        let backend = try await Backend { _ in
            arrivals.add()
            return Backend.Answer()
        }
        let start = ContinuousClock.now
        let children = try (0..<load.processCount).map { number in
            let count = callCount / load.processCount + (number < callCount % load.processCount ? 1 : 0)
            return try Child(
                load.arguments + [
                    "--port", "\(backend.port)", "--store", redis.address, "--call-count", "\(count)", "--hasty",
                    // A call that waited for the end of an operation, and not for its own deadline, would be late by more
                    // than the proof allows.
                    "--operation-limit", disturbances == nil ? "250" : "3000",
                ]
            )
        }
        defer { for child in children { child.kill() } }
        let periods = try await disturbances?.carryOut(on: redis, arrivals) ?? []
        var counts = CallCounts()
        var problems: [String] = []
        for child in children { counts.add(.of(try await child.waitForEnd(), problems: &problems)) }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        let times = arrivals.times
        problems += judge(counts, times, seconds)
        if periods.contains(where: { $0.lowerBound > times.last ?? 0 }) {
            problems.append("the calls ended before the last disturbance")
        }
        problems += judgeWindows(Windows(times: times, disturbances: periods))
        if disturbances == nil {
            problems += try judgeRoundTrips(redis)
            if Double(times.count) < Double(load.rate) * seconds / 2 {
                print("  note: the machine is slower than half the limit, so this says little")
            }
        }
        return problems
    }

    private func judge(_ counts: CallCounts, _ times: [UInt64], _ seconds: Double) -> [String] {
        var problems = counts.failures.prefix(3).map { "a call failed: \($0)" }
        let rate = Int(Double(times.count) / seconds)
        print(
            "  \(counts.successCount) calls answered in \(seconds.text) s, \(rate) a second;"
                + " limit: \(load.rate) a second"
        )
        print(
            "  \(counts.lateCount) calls with a deadline of 0.1 s could not start before it,"
                + " \(counts.failures.count) failed otherwise"
        )
        problems += counts.judgeTimes()
        let endedCount = counts.successCount + counts.lateCount + counts.failures.count
        if endedCount != callCount { problems.append("\(callCount) calls were made, and \(endedCount) ended") }
        // A call whose deadline passed after it was sent may also have arrived.
        if !(counts.successCount...counts.successCount + counts.lateCount).contains(times.count) {
            problems.append("\(counts.successCount) calls were answered, and \(times.count) arrived")
        }
        return problems
    }

    private func judgeWindows(_ windows: Windows) -> [String] {
        var problems: [String] = []
        for milliseconds in [100, 1000, 3000, 10_000] {
            let length = UInt64(milliseconds) * 1_000_000
            let undisturbed = windows.fullest(of: length, isDisturbed: false, under: load)
            let disturbed = windows.fullest(of: length, isDisturbed: true, under: load)
            let texts = [
                undisturbed.map { "\($0.count), at most \($0.bound)" },
                disturbed.map { "\($0.count) with a disturbance, at most \($0.bound)" },
            ]
            print("  most calls in \(milliseconds) ms: \(texts.compactMap(\.self).joined(separator: "; "))")
            for window in [undisturbed, disturbed].compactMap(\.self) where window.count > window.bound {
                problems.append("\(window.count) calls in \(milliseconds) ms, and \(window.bound) are allowed")
            }
            if milliseconds == 1000, undisturbed == nil { problems.append("no second was undisturbed") }
        }
        return problems
    }

    private func judgeRoundTrips(_ redis: Redis) throws -> [String] {
        let count = try redis.roundTripCount
        print("  \(count) round trips to Redis, one in \(callCount / max(count, 1)) calls")
        // At first, a process takes only a few tokens at a time. In a short run, these round trips matter.
        let isShort = callCount < load.processCount * 10_000
        let bound = callCount / 100 + (isShort ? load.processCount * 12 : 0)
        if load.isUnshared || count <= bound { return [] }
        return ["\(count) round trips, and \(bound) are allowed"]
    }
}

extension Redis {
    /// The server's address, with database 1.
    var address: String { "redis://:\(Redis.password)@127.0.0.1:\(port)/1" }

    /// How many scripts the server has run since it was started.
    var roundTripCount: Int {
        get throws {
            let statistics = try run("info commandstats")
            return statistics.firstMatch(of: /cmdstat_evalsha:calls=(\d+)/).flatMap { Int($0.1) } ?? 0
        }
    }
}
