// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The system's monotonic time for the transport's event loop, in which libcurl asks for waits in milliseconds.
enum MonotonicTime {
    /// Milliseconds since a fixed moment.
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

    /// Blocks this thread for 0.1 ms, where no notification ends a wait.
    static func waitBriefly() {
        usleep(100)
    }
}
