// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// A value that comes once, from anywhere; whoever waits for it, before or after, gets it.
final class Eventual<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var waiters: [@Sendable (Value) -> Void] = []
    }

    private let state = Locked(State())

    /// Sets the value; only the first one counts.
    func set(_ value: Value) {
        let waiters = state.withLock { state -> [@Sendable (Value) -> Void] in
            guard state.value == nil else { return [] }
            state.value = value
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter(value) }
    }

    /// The value, if it has come.
    var current: Value? { state.withLock { $0.value } }

    /// Calls a closure with the value: now, or when it comes.
    func whenSet(_ waiter: @escaping @Sendable (Value) -> Void) {
        let value = state.withLock { state in
            if state.value == nil { state.waiters.append(waiter) }
            return state.value
        }
        if let value { waiter(value) }
    }

    /// Waits for the value, for as long as it takes.
    func value() async -> Value {
        await withCheckedContinuation { continuation in
            whenSet { continuation.resume(returning: $0) }
        }
    }

    /// Waits for the value as a test does: a cancel and a guard end the wait.
    ///
    /// - Throws: `CancellationError`, or a `WaitExpired` of the sentence.
    func value(within limit: Duration, orSay sentence: String) async throws -> Value {
        let end = Eventual<Result<Value, any Error>>()
        whenSet { end.set(.success($0)) }
        DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(Int(limit / .nanoseconds(1)))) {
            [weak end] in end?.set(.failure(WaitExpired(description: "\(sentence) within \(limit)")))
        }
        let result = await withTaskCancellationHandler {
            await end.value()
        } onCancel: {
            end.set(.failure(CancellationError()))
        }
        return try result.get()
    }
}

/// What a test's wait throws when it has lasted too long.
struct WaitExpired: Error, CustomStringConvertible {
    let description: String
}
