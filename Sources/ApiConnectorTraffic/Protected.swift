// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Synchronization

/// A value that a `Mutex` protects, in a way that the thread sanitizer understands on Linux, too.
///
/// The slow path of `Mutex` takes the lock in a library that is not instrumented (Swift 6.3.1). So the sanitizer
/// reports a race when two threads compete for the lock. The atomic expresses the same order in instrumented code, and
/// costs two plain moves on x86-64.
///
/// ApiConnector's own lock is not public, because it is of no use to authors of providers.
struct Protected<Value>: ~Copyable, Sendable {
    private let mutex: Mutex<Value>
    private let order = Atomic(0)

    init(_ value: consuming sending Value) {
        mutex = Mutex(value)
    }

    /// Runs a short synchronous section exclusively.
    borrowing func withLock<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        try mutex.withLock { (value) throws(Failure) -> sending Result in
            _ = order.load(ordering: .acquiring)
            defer { order.store(0, ordering: .releasing) }
            return try body(&value)
        }
    }
}
