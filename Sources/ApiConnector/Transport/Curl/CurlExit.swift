// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import CCurl
import Synchronization

/// Keeps every thread out of libcurl once the process exits.
///
/// `exit()` runs OpenSSL's exit handler while other threads still run: a loop that closes a connection meanwhile takes locks
/// that are freed, and the process ends with SIGSEGV, its buffered output lost. Exit handlers run in the reverse order of
/// their registration, and this one is registered after libcurl, and with it OpenSSL, has started. So it runs before
/// OpenSSL's. It waits until no thread is inside libcurl, and none enters libcurl from then on.
///
/// Calls that are under way at that time never end; new ones fail.
enum CurlExit {
    /// The longest that an exit waits for a thread inside libcurl: 5 seconds.
    ///
    /// A turn takes milliseconds, but it may be stuck in code of the caller's that waits for the thread that exits.
    private static let patience = 5000

    private static let flag = Atomic(false)

    /// The drivers whose threads may call libcurl.
    ///
    /// A driver stays after the flag is set, for its end calls libcurl, too.
    private static let drivers = Locked<[ObjectIdentifier: CurlDriver]>([:])

    /// The process that the handler was registered in.
    ///
    /// A child process made by `fork` has the handler and none of the threads.
    private static let processID: pid_t = {
        atexit { CurlExit.keepOut() }
        return getpid()
    }()

    /// Whether the process exits.
    static var hasBegun: Bool { flag.load(ordering: .acquiring) }

    /// Waits for a driver's turns at the exit, from now on.
    ///
    /// - Returns: False where the process exits already; then libcurl must not be called.
    static func enter(_ driver: CurlDriver) -> Bool {
        _ = processID
        return drivers.withLock { drivers in
            guard !hasBegun else { return false }
            drivers[ObjectIdentifier(driver)] = driver
            return true
        }
    }

    /// Ends the wait for a driver's turns; when the process exits, its thread stops here for good.
    static func leave(_ driver: CurlDriver) {
        let hasLeft = drivers.withLock { drivers in
            guard !hasBegun else { return false }
            drivers[ObjectIdentifier(driver)] = nil
            return true
        }
        // A thread that ends gives back what OpenSSL has kept for it.
        while !hasLeft { pause() }
    }

    /// Waits until no thread is inside libcurl; on the thread that exits.
    private static func keepOut() {
        guard getpid() == processID else { return }
        flag.store(true, ordering: .releasing)
        let end = MonotonicTime.milliseconds + patience
        var remaining: [CurlDriver]?
        while remaining == nil, MonotonicTime.milliseconds < end {
            // Not waited for: a signal's handler may exit on a thread that is in there.
            remaining = drivers.withLockIfAvailable { Array($0.values) }
            if remaining == nil { MonotonicTime.waitBriefly() }
        }
        for driver in remaining ?? [] {
            while !driver.isOutsideLibcurl, MonotonicTime.milliseconds < end { MonotonicTime.waitBriefly() }
        }
    }

    static func refusal(_ request: ApiRequest?) -> ApiConnectorError {
        ApiConnectorError(.cancelled, "the process is exiting, so the request is not sent", request: request)
    }
}

#endif
