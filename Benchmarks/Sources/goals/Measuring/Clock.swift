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

    /// Microseconds that each of many calls takes, one after the other on one thread.
    @concurrent
    static func microseconds(count: Int, _ action: () async throws -> Void) async throws -> Double {
        let clock = ContinuousClock()
        let start = clock.now
        for _ in 0..<count { try await action() }
        return (clock.now - start).seconds * 1e6 / Double(count)
    }

    /// The same of something that does not wait.
    static func nanoseconds(count: Int, _ action: () -> Void) -> Double {
        let clock = ContinuousClock()
        let start = clock.now
        for _ in 0..<count { action() }
        return (clock.now - start).seconds * 1e9 / Double(count)
    }
}

/// Takes a value so that the compiler cannot leave out how it is made.
@inline(never)
@_optimize(none)
func keep<Value>(_ value: borrowing Value) {}
