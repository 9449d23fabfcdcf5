// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import Synchronization

/// A `Mutex` whose order the thread sanitizer sees on Linux, too.
///
/// The slow path of `Mutex` takes the lock in a library that is not instrumented (Swift 6.3.1), so that the sanitizer
/// reports a race wherever two threads really meet. The atomic says the same in code that it sees, at the price of two
/// plain moves on x86-64.
///
/// In its own module, so that ApiConnectorTesting has it and still sees nothing of ApiConnector but what is public;
/// inlinable, so that it costs what it would within the module that uses it. That takes `@usableFromInline` here, too, and
/// the public import; without the two it is a call, and the compiler says nothing (Swift 6.3.1).
@usableFromInline
package struct Locked<Value>: ~Copyable, Sendable {
    @usableFromInline let mutex: Mutex<Value>
    @usableFromInline let order = Atomic(0)

    /// Puts a value behind a lock.
    @inlinable
    package init(_ value: consuming sending Value) {
        mutex = Mutex(value)
    }

    /// Runs a short synchronous section that nobody else is in.
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

    /// As ``withLock(_:)``, but not at all where somebody else is in.
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
