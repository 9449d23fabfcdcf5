// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension OperationQueue {
    /// Where a session of the provider's own calls back; nil is a queue that the session makes.
    static var forCallbacks: OperationQueue? {
        #if canImport(FoundationNetworking)
        CallbackQueue()
        #else
        nil
        #endif
    }
}

#if canImport(FoundationNetworking)
/// Runs each callback where it arises, on the queue that all sessions share (M11).
///
/// A session makes an operation of each of a response's three callbacks (M20), by this one method. Each would wake a
/// thread, and the answer with it.
///
/// Unchecked, as its class is: it has no state of its own.
private final class CallbackQueue: OperationQueue, @unchecked Sendable {
    override func addOperation(_ block: @escaping @Sendable () -> Void) {
        block()
    }
}
#endif
