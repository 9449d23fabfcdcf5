// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The machine's monotonic time for the transport's own event loop, whose waits libcurl asks for in milliseconds.
enum MonotonicTime {
    /// Milliseconds since some fixed moment.
    static var milliseconds: Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int(clamping: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }

    /// Nanoseconds since some fixed moment.
    static var nanoseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// Waits for 0.1 ms on this thread, where nothing tells when a wait may end.
    static func waitBriefly() {
        usleep(100)
    }
}
