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

    /// Blocks this thread for 0.1 ms; for polling a condition that sends no notification.
    static func waitBriefly() {
        usleep(100)
    }
}
