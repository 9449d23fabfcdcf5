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
/// Runs callbacks one after the other on a dispatch queue.
///
/// On Linux a session makes an operation of each of a response's three callbacks (M20), by this one method.
///
/// Unchecked, as its class is: what is its own is constant.
private final class CallbackQueue: OperationQueue, @unchecked Sendable {
    private let queue = DispatchQueue(label: "URLSessionProvider")

    override func addOperation(_ block: @escaping @Sendable () -> Void) {
        queue.async(execute: block)
    }
}
#endif
