// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// Runs code while no session of the process adds, looks up or forgets a task.
///
/// Foundation on Linux keeps a session's tasks in a dictionary without a lock, for its work queue alone, and looks a
/// task up whenever a protocol calls its client. From any other queue that meets the session's own changes, which ends
/// the process, and so does a task that has ended meanwhile. The work queues of all sessions have one serial queue
/// beneath them (R7), so that what runs on that of our own session is alone.
final class SessionTurns: Sendable {
    #if canImport(FoundationNetworking)
    private let session = URLSession(configuration: .ephemeral, delegate: nil, delegateQueue: InlineQueue())

    func take<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            // From its work queue the session calls back by the delegate's queue, which does not exist.
            session.getAllTasks { _ in continuation.resume(returning: body()) }
        }
    }
    #else
    func take<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value { body() }
    #endif
}

#if canImport(FoundationNetworking)
/// Runs what it is handed at once, where it is handed over.
///
/// Unchecked, as its class is: it has nothing of its own.
private final class InlineQueue: OperationQueue, @unchecked Sendable {
    override func addOperation(_ block: @escaping @Sendable () -> Void) { block() }
}
#endif
