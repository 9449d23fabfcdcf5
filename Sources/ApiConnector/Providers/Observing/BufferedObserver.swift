// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// An observer behind a bounded queue, so that it cannot slow a call; made by ``CallObserver/buffered(eventCount:)``.
public final class BufferedObserver<Base: CallObserver>: CallObserver {
    private struct State {
        var queue: [CallEvent] = []
        /// Queued, or with the observer now.
        var count = 0
        var droppedCount = 0
        var isDraining = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let base: Base
    private let limit: Int
    private let state = Locked(State())

    init(_ base: Base, limit: Int) {
        self.base = base
        self.limit = limit
    }

    /// How many events were thrown away because the queue was full.
    public var droppedCount: Int { state.withLock { $0.droppedCount } }

    /// Queues the event, or throws it away where the queue is full.
    public func handle(_ event: CallEvent) {
        let starts = state.withLock { state in
            guard state.count < limit else {
                state.droppedCount += 1
                return false
            }
            state.count += 1
            state.queue.append(event)
            defer { state.isDraining = true }
            return !state.isDraining
        }
        // One at a time, and it ends with the queue.
        if starts { Task(priority: .utility) { drain() } }
    }

    /// Waits until every event that was queued before has been handled, such as before a program ends.
    public func flush() async {
        await withCheckedContinuation { continuation in
            let isEmpty = state.withLock { state in
                if state.isDraining { state.waiters.append(continuation) }
                return !state.isDraining
            }
            if isEmpty { continuation.resume() }
        }
    }

    private func drain() {
        while true {
            let (events, waiters) = state.withLock { state in
                defer { state.queue = [] }
                guard state.queue.isEmpty else { return (state.queue, [] as [CheckedContinuation<Void, Never>]) }
                state.isDraining = false
                defer { state.waiters = [] }
                return (state.queue, state.waiters)
            }
            for waiter in waiters { waiter.resume() }
            guard !events.isEmpty else { return }
            for event in events {
                base.handle(event)
                state.withLock { $0.count -= 1 }
            }
        }
    }
}

extension CallObserver {
    /// This observer behind a queue, so that it may write to a disk or a network and cannot slow a call.
    ///
    /// A task that runs while there is something in the queue hands it the events, one at a time and in order. Past the
    /// limit the newest events are thrown away and counted, and the pairs of `started` and `finished` have gaps.
    ///
    /// - Parameter eventCount: The most events that wait; 1,024 by default.
    public func buffered(eventCount: Int = 1024) -> BufferedObserver<Self> {
        BufferedObserver(self, limit: eventCount)
    }
}
