// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Foundation
import Servers

/// When Redis is restarted, suspended and flushed, counted from the first call.
struct Disturbances {
    /// A period in nanoseconds of the monotonic clock.
    typealias Period = Range<UInt64>

    let restartTime: Duration
    let suspensionTime: Duration
    /// How long Redis is suspended.
    let suspension: Duration
    let flushTime: Duration

    /// - Parameter length: The expected duration of the calls, which is at most the real one.
    init(in length: Duration, suspension: Duration) {
        restartTime = length / 10
        suspensionTime = length / 4
        self.suspension = suspension
        flushTime = length * 4 / 5
    }

    /// Disturbs Redis.
    ///
    /// - Returns: The periods in which some processes might not know the state in Redis.
    func carryOut(on redis: Redis, _ arrivals: Arrivals) async throws -> [Period] {
        let limit = ContinuousClock.now + .seconds(60)
        while arrivals.count == 0, ContinuousClock.now < limit { try await Task.sleep(for: .milliseconds(1)) }
        let start = ContinuousClock.now
        var periods: [Period] = []
        func disturb(at time: Duration, _ text: String, _ action: () async throws -> Void) async throws {
            try await Task.sleep(until: start + time)
            print("  at \(arrivals.count) calls: Redis \(text)")
            let begin = Arrivals.now
            try await action()
            periods.append(begin..<Arrivals.now)
        }
        try await disturb(at: restartTime, "killed and started again") { try redis.restart() }
        try await disturb(at: suspensionTime, "stopped by a signal for \(suspension)") {
            try redis.suspend()
            try await Task.sleep(for: suspension)
            try redis.resume()
        }
        try await disturb(at: flushTime, "flushed") { try redis.run("-n 1 flushall") }
        let flush = periods.removeLast()
        // After failures, a process waits 1, 2, 4 … seconds before it asks again. So after an outage, it asks again
        // after at most the duration of the outage plus one second. One more second is for the operation.
        return periods.map { $0.lowerBound..<$0.upperBound + UInt64($0.count) + 2_000_000_000 } + [flush]
    }
}
