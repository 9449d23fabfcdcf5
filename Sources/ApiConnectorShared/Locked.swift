// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import Synchronization

/// A `Mutex` whose synchronization the thread sanitizer also detects on Linux.
///
/// The slow path of `Mutex` takes the lock in a library without instrumentation (Swift 6.3.1), so the sanitizer reports
/// a race whenever two threads contend. The atomic establishes the same happens-before order in instrumented code. It
/// costs two plain moves on x86-64.
///
/// The type is in its own module, so that ApiConnectorTesting can use it and still only sees the public API of
/// ApiConnector. It is inlinable, so that another module can use it at the same cost. Inlining requires
/// `@usableFromInline` and the public import. Without them, each use is a function call, and the compiler does not warn
/// (Swift 6.3.1).
@usableFromInline
package struct Locked<Value>: ~Copyable, Sendable {
    @usableFromInline let mutex: Mutex<Value>
    @usableFromInline let order = Atomic(0)

    /// Protects a value with a lock.
    @inlinable
    package init(_ value: consuming sending Value) {
        mutex = Mutex(value)
    }

    /// Runs a short synchronous section with exclusive access.
    @inlinable
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

    /// Like ``withLock(_:)``, but returns nil if the lock is taken.
    @inlinable
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
