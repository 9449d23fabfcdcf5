// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import CCurl
import Synchronization

/// Keeps all threads out of libcurl when the process exits.
///
/// `exit()` runs OpenSSL's exit handler while other threads are still running. A loop that closes a connection
/// meanwhile takes freed locks, and the process crashes with SIGSEGV and loses its buffered output. Exit handlers run
/// in the reverse order of their registration. This handler is registered after libcurl and OpenSSL have started, so it
/// runs before OpenSSL's. It waits until no thread is inside libcurl, and no thread enters libcurl afterwards.
///
/// Calls in flight at that time never end; new calls fail.
enum CurlExit {
    /// The maximum time that an exit waits for a thread inside libcurl: 5 seconds.
    ///
    /// A thread inside libcurl is in a turn of its loop, which normally takes milliseconds. But a turn can run the
    /// caller's code, and this code may be waiting for the exiting thread. Without the maximum, both threads would then
    /// wait forever.
    private static let patience = 5000

    private static let flag = Atomic(false)

    /// The loops whose threads may call libcurl.
    ///
    /// A loop is not removed after the flag is set, because shutting it down also calls libcurl.
    private static let loops = Locked<[ObjectIdentifier: CurlLoop]>([:])

    /// The process in which the handler was registered.
    ///
    /// A child process made by `fork` has the handler but not the threads.
    private static let processID: pid_t = {
        atexit { CurlExit.keepOut() }
        return getpid()
    }()

    /// Whether the process is exiting.
    static var hasBegun: Bool { flag.load(ordering: .acquiring) }

    /// Registers a loop, so that an exit of the process waits for the end of the loop's current turn.
    ///
    /// - Returns: False if the process is already exiting; libcurl must then not be called.
    static func enter(_ loop: CurlLoop) -> Bool {
        _ = processID
        return loops.withLock { loops in
            guard !hasBegun else { return false }
            loops[ObjectIdentifier(loop)] = loop
            return true
        }
    }

    /// Removes a loop, so that an exit of the process no longer waits for its turns.
    ///
    /// If the process is exiting, the loop's thread stops here forever.
    static func leave(_ loop: CurlLoop) {
        let hasLeft = loops.withLock { loops in
            guard !hasBegun else { return false }
            loops[ObjectIdentifier(loop)] = nil
            return true
        }
        // The thread must not end, because OpenSSL would then release the thread's data.
        while !hasLeft { pause() }
    }

    /// Waits until no thread is inside libcurl; runs on the exiting thread.
    private static func keepOut() {
        guard getpid() == processID else { return }
        flag.store(true, ordering: .releasing)
        let end = MonotonicTime.milliseconds + patience
        var remaining: [CurlLoop]?
        while remaining == nil, MonotonicTime.milliseconds < end {
            // Does not block, because a signal handler may exit on a thread that holds this lock.
            remaining = loops.withLockIfAvailable { Array($0.values) }
            if remaining == nil { MonotonicTime.waitBriefly() }
        }
        for loop in remaining ?? [] {
            while !loop.isOutsideLibcurl, MonotonicTime.milliseconds < end { MonotonicTime.waitBriefly() }
        }
    }

    static func refusal(_ request: ApiRequest?) -> ApiConnectorError {
        ApiConnectorError(.cancelled, "the process is exiting, so the request is not sent", request: request)
    }
}

#endif
