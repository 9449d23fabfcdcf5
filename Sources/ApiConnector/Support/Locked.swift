// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Synchronization

/// A `Mutex` whose order the thread sanitizer sees on Linux, too.
///
/// The slow path of `Mutex` takes the lock in a library that is not instrumented (Swift 6.3.1), so that the sanitizer
/// reports a race wherever two threads really meet. The atomic says the same in code that it sees, at the price of two
/// plain moves on x86-64.
package struct Locked<Value>: ~Copyable, Sendable {
    private let mutex: Mutex<Value>
    private let order = Atomic(0)

    /// Puts a value behind a lock.
    package init(_ value: consuming sending Value) {
        mutex = Mutex(value)
    }

    /// Runs a short synchronous section that nobody else is in.
    @inline(__always)
    package borrowing func withLock<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        try mutex.withLock { (value) throws(Failure) -> sending Result in
            _ = order.load(ordering: .acquiring)
            defer { order.store(0, ordering: .releasing) }
            return try body(&value)
        }
    }

    /// As ``withLock(_:)``, but not at all where somebody else is in.
    package borrowing func withLockIfAvailable<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result? {
        try mutex.withLockIfAvailable { (value) throws(Failure) -> sending Result in
            _ = order.load(ordering: .acquiring)
            defer { order.store(0, ordering: .releasing) }
            return try body(&value)
        }
    }
}
