// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

extension Duration {
    /// The duration in seconds.
    var seconds: Double {
        Double(components.seconds) + Double(components.attoseconds) * 1e-18
    }
}

/// The processor time of all threads of this process.
///
/// Use it for work that never waits. On an idle machine it equals wall-clock time. On a busy machine it does not
/// include other processes.
enum ProcessorTime {
    /// The processor time of a closure in seconds.
    static func seconds(_ action: () throws -> Void) rethrows -> Double {
        let start = now
        try action()
        return now - start
    }

    /// The processor time since the process started, in seconds.
    static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
}

/// Measures rates.
enum Rate {
    /// The calls per second of concurrent tasks.
    ///
    /// Each task makes calls in sequence.
    @concurrent
    static func perSecond(
        inFlight: Int,
        for duration: Duration,
        _ action: @escaping @Sendable () async throws -> Void
    ) async throws -> Double {
        let clock = ContinuousClock()
        let start = clock.now
        let end = start + duration
        let count = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<inFlight {
                group.addTask {
                    var count = 0
                    while clock.now < end {
                        try await action()
                        count += 1
                    }
                    return count
                }
            }
            return try await group.reduce(0, +)
        }
        return Double(count) / (clock.now - start).seconds
    }

    /// The processor time per call in microseconds, for sequential calls on one thread.
    @concurrent
    static func microseconds(count: Int, _ action: () async throws -> Void) async throws -> Double {
        let start = ProcessorTime.now
        for _ in 0..<count { try await action() }
        return (ProcessorTime.now - start) * 1e6 / Double(count)
    }

    /// The processor time per call of a synchronous closure, in nanoseconds.
    static func nanoseconds(count: Int, _ action: () -> Void) -> Double {
        ProcessorTime.seconds { for _ in 0..<count { action() } } * 1e9 / Double(count)
    }
}
