// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// Runs code while no session of the process adds, looks up or forgets a task.
///
/// Foundation on Linux keeps a session's tasks in a dictionary without a lock, and uses the dictionary on the session's
/// work queue. But it also looks a task up whenever a `URLProtocol` calls its client. A lookup from another queue races
/// with the session's changes, or finds a task that has ended. Both end the process. The work queues of all sessions
/// share one serial queue (R7), so code on the work queue of this object's own session runs alone.
final class SessionTurns: Sendable {
    #if canImport(FoundationNetworking)
    private let session = URLSession(configuration: .ephemeral, delegate: nil, delegateQueue: InlineQueue())

    func take<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            // The session adds the block to the delegate queue, which runs it immediately.
            session.getAllTasks { _ in continuation.resume(returning: body()) }
        }
    }
    #else
    func take<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value { body() }
    #endif
}

#if canImport(FoundationNetworking)
/// Runs each operation immediately on the caller's thread.
///
/// Unchecked, like its superclass. It adds no state.
private final class InlineQueue: OperationQueue, @unchecked Sendable {
    override func addOperation(_ block: @escaping @Sendable () -> Void) { block() }
}
#endif
