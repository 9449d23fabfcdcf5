// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension OperationQueue {
    /// The callback queue of the provider's own sessions; nil makes the session create one.
    static var forCallbacks: OperationQueue? {
        #if canImport(FoundationNetworking)
        CallbackQueue()
        #else
        nil
        #endif
    }
}

#if canImport(FoundationNetworking)
/// Runs callbacks one after the other on a dispatch queue.
///
/// On Linux, a session calls `addOperation(_:)` for each of a response's three callbacks, and `OperationQueue` would
/// create an operation for each (M20).
///
/// Unchecked, like its superclass: its own property is constant.
private final class CallbackQueue: OperationQueue, @unchecked Sendable {
    private let queue = DispatchQueue(label: "URLSessionProvider")

    override func addOperation(_ block: @escaping @Sendable () -> Void) {
        queue.async(execute: block)
    }
}
#endif
