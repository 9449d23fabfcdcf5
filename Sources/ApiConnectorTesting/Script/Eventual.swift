// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// A value that is set once.
///
/// Every task that waits for the value gets it, even if the task begins to wait later.
package final class Eventual<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var waiters: [(id: Int, call: @Sendable (Value) -> Void)] = []
        var nextID = 0
    }

    private let state = Locked(State())

    package init() {}

    /// Sets the value.
    ///
    /// Only the first value counts.
    package func set(_ value: Value) {
        let waiters = state.withLock { state -> [(id: Int, call: @Sendable (Value) -> Void)] in
            guard state.value == nil else { return [] }
            state.value = value
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.call(value) }
    }

    /// The value, if it is set.
    package var current: Value? { state.withLock { $0.value } }

    /// The number of closures that wait for the value.
    var waiterCount: Int { state.withLock { $0.waiters.count } }

    /// Calls a closure with the value: now if the value is set, otherwise when it is set.
    ///
    /// - Returns: The argument for ``forget(_:)``; nil if the value was already set.
    @discardableResult
    package func whenSet(_ waiter: @escaping @Sendable (Value) -> Void) -> Int? {
        let (value, id) = state.withLock { state -> (Value?, Int?) in
            if let value = state.value { return (value, nil) }
            defer { state.nextID += 1 }
            state.waiters.append((state.nextID, waiter))
            return (nil, state.nextID)
        }
        if let value { waiter(value) }
        return id
    }

    /// Removes a closure that no longer needs the value, so that repeated waits do not accumulate closures.
    func forget(_ id: Int?) {
        guard let id else { return }
        state.withLock { state in state.waiters.removeAll { $0.id == id } }
    }

    /// Waits for the value, without a limit.
    package func value() async -> Value {
        await withCheckedContinuation { continuation in
            whenSet { continuation.resume(returning: $0) }
        }
    }

    /// Waits for the value in a test.
    ///
    /// A cancel or a timeout ends the wait.
    ///
    /// - Parameters:
    ///   - limit: The longest wait, in real time. No timer is made if the value is already set.
    ///   - sentence: The text of the error, evaluated at the timeout.
    /// - Throws: `CancellationError`, or `WaitExpired` with the sentence.
    package func value(
        within limit: Duration,
        orSay sentence: @autoclosure @escaping @Sendable () -> String
    ) async throws -> Value {
        if let current { return current }
        let end = Eventual<Result<Value, any Error>>()
        let waiter = whenSet { end.set(.success($0)) }
        let guardian = WaitLimit(at: limit.dispatchDeadline) { [weak end] in
            end?.set(.failure(WaitExpired(description: "\(sentence()) within \(limit)")))
        }
        defer {
            forget(waiter)
            withExtendedLifetime(guardian) {}
        }
        let result = await withTaskCancellationHandler {
            await end.value()
        } onCancel: {
            end.set(.failure(CancellationError()))
        }
        return try result.get()
    }
}
