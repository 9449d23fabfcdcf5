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

/// The time that this process has had the processor, with all its threads.
///
/// What is bound by the processor and waits for nobody is measured by it: on a machine that does nothing else it is the
/// time of the clock on the wall, and on a busy one the neighbors are not in it.
enum ProcessorTime {
    /// Seconds that something takes.
    static func seconds(_ action: () throws -> Void) rethrows -> Double {
        let start = now
        try action()
        return now - start
    }

    /// In seconds since the process has begun.
    static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
}

/// How often something can be done.
enum Rate {
    /// Times a second that tasks at work side by side do something, each one call after the other.
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

    /// Microseconds of the processor that each of many calls takes, one after the other on one thread.
    @concurrent
    static func microseconds(count: Int, _ action: () async throws -> Void) async throws -> Double {
        let start = ProcessorTime.now
        for _ in 0..<count { try await action() }
        return (ProcessorTime.now - start) * 1e6 / Double(count)
    }

    /// The same of something that does not wait.
    static func nanoseconds(count: Int, _ action: () -> Void) -> Double {
        ProcessorTime.seconds { for _ in 0..<count { action() } } * 1e9 / Double(count)
    }
}
