// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The system's monotonic time, for the transport's event loop.
enum MonotonicTime {
    /// Milliseconds since a fixed moment; libcurl's waits are in milliseconds.
    static var milliseconds: Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int(clamping: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }

    /// Nanoseconds since a fixed moment.
    static var nanoseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// The processor time that a thread has used, in nanoseconds; 0 if it has ended.
    ///
    /// - Parameter clock: The thread's clock, from ``threadClock``.
    static func processorNanoseconds(of clock: clockid_t) -> Int64 {
        var time = timespec()
        guard clock_gettime(clock, &time) == 0 else { return 0 }
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    #if os(Linux)
    /// The clock of this thread's processor time.
    static var threadClock: clockid_t {
        var clock = clockid_t()
        return pthread_getcpuclockid(pthread_self(), &clock) == 0 ? clock : CLOCK_THREAD_CPUTIME_ID
    }
    #endif

    /// Runs an action after a time, outside of the threads of Swift's concurrency, which may all be blocked.
    static func run(afterMilliseconds milliseconds: Int, _ action: @escaping @Sendable () -> Void) {
        queue.asyncAfter(deadline: .now() + .milliseconds(milliseconds), execute: action)
    }

    private static let queue = DispatchQueue(label: "ApiConnector.MonotonicTime", qos: .userInitiated)

    /// Blocks this thread for 0.1 ms; for polling a condition that sends no notification.
    static func waitBriefly() {
        usleep(100)
    }
}
