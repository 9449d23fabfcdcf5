// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting

/// A gate at which threads and tasks wait until it is opened.
///
/// Once it is open, it stays open.
///
/// Every wait has a long timeout, so that a broken test fails with a clear error instead of hanging.
package final class Gate: Sendable {
    private enum Waiter {
        case thread(DispatchSemaphore)
        case task(CheckedContinuation<Void, any Error>)
    }

    private struct State {
        var isOpen = false
        var waiters: [Int: Waiter] = [:]
        var nextWaiter = 0

        mutating func makeWaiter() -> Int {
            defer { nextWaiter += 1 }
            return nextWaiter
        }
    }

    private let name: String
    private let limit: Duration
    private let state = Locked(State())

    /// Makes a closed gate.
    ///
    /// - Parameters:
    ///   - name: The gate's name in a timeout's error.
    ///   - limit: The longest duration of a wait; 600 seconds by default.
    package init(_ name: String = "gate", guardedFor limit: Duration = .seconds(600)) {
        self.name = name
        self.limit = limit
    }

    /// Whether the gate is open.
    package var isOpen: Bool { state.withLock { $0.isOpen } }

    /// Releases all current and later waiters; a second call does nothing.
    package func open() {
        let waiters = state.withLock { state in
            state.isOpen = true
            defer { state.waiters = [:] }
            return state.waiters.values
        }
        for waiter in waiters { resume(waiter, with: .success(())) }
    }

    /// Blocks the calling thread until the gate is open.
    ///
    /// On the threads of a ``LoopbackServer``, prefer ``LoopbackConnection/wait(for:)``, which also ends when the
    /// server stops.
    ///
    /// - Throws: ``LoopbackError/timedOut(_:)`` if the limit passes first.
    @available(*, noasync, message: "Await opened() instead of blocking a thread of the pool.")
    package func wait() throws {
        try wait(orUntil: nil)
    }

    /// Blocks the calling thread until this gate or the other gate is open, at most for this gate's limit.
    @available(*, noasync)
    func wait(orUntil other: Gate?) throws {
        let semaphore = DispatchSemaphore(value: 0)
        guard let here = add(semaphore) else { return }
        defer { _ = remove(here) }
        var there: Int?
        if let other {
            guard let waiter = other.add(semaphore) else { return }
            there = waiter
        }
        defer { if let there { _ = other?.remove(there) } }

        guard semaphore.wait(timeout: limit.dispatchDeadline) == .timedOut, !isOpen else { return }
        throw guardPassed
    }

    /// Suspends the calling task until the gate is open.
    ///
    /// - Throws: `CancellationError` if the task is canceled first, ``LoopbackError/timedOut(_:)`` if the limit passes
    ///   first.
    package func opened() async throws {
        let id = state.withLock { $0.makeWaiter() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                add(continuation, as: id)
            }
        } onCancel: {
            fail(id, with: CancellationError())
        }
    }

    private func add(_ semaphore: DispatchSemaphore) -> Int? {
        state.withLock { state -> Int? in
            guard !state.isOpen else { return nil }
            let id = state.makeWaiter()
            state.waiters[id] = .thread(semaphore)
            return id
        }
    }

    private func add(_ continuation: CheckedContinuation<Void, any Error>, as id: Int) {
        // The flag of a canceled task is set before its handler runs. This section and the handler both take the lock,
        // and the second of them sees the effect of the first.
        let early: Result<Void, any Error>? = state.withLock { state in
            if state.isOpen { return .success(()) }
            if Task.isCancelled { return .failure(CancellationError()) }
            state.waiters[id] = .task(continuation)
            return nil
        }
        if let early { return continuation.resume(with: early) }
        DispatchQueue.global().asyncAfter(deadline: limit.dispatchDeadline) { [weak self] in
            guard let self else { return }
            fail(id, with: guardPassed)
        }
    }

    private func remove(_ id: Int) -> Waiter? {
        state.withLock { $0.waiters.removeValue(forKey: id) }
    }

    private func fail(_ id: Int, with error: any Error) {
        if let waiter = remove(id) { resume(waiter, with: .failure(error)) }
    }

    private func resume(_ waiter: Waiter, with result: Result<Void, any Error>) {
        switch waiter {
        case .thread(let semaphore): semaphore.signal()
        case .task(let continuation): continuation.resume(with: result)
        }
    }

    private var guardPassed: LoopbackError { .timedOut("The \(name) was not opened within \(limit)") }
}
