// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Foundation
import Synchronization

/// The times at which calls arrived.
final class Arrivals: Sendable {
    private let state = Mutex<[UInt64]>([])

    /// The times in nanoseconds of the monotonic clock, sorted.
    var times: [UInt64] { state.withLock { $0.sorted() } }
    var count: Int { state.withLock { $0.count } }

    func add() {
        state.withLock { $0.append(Self.now) }
    }

    /// The largest number of arrivals in a time window.
    func most(in window: Duration) -> Int {
        let times = times
        let length = UInt64(window / .nanoseconds(1))
        var first = 0
        return times.indices.map { last in
            while times[first] + length <= times[last] { first += 1 }
            return last - first + 1
        }.max() ?? 0
    }

    /// The time in nanoseconds of the monotonic clock.
    static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
