// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// An observer with a bounded queue, so that it cannot slow down calls; made by ``CallObserver/buffered(eventCount:)``.
public final class BufferedObserver<Base: CallObserver>: CallObserver {
    private struct State {
        var queue: [CallEvent] = []
        /// The number of events in the queue, plus those that the observer is handling.
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

    /// The number of events that were dropped because the queue was full.
    public var droppedCount: Int { state.withLock { $0.droppedCount } }

    /// Whether the wrapped observer is listening.
    public var isListening: Bool { base.isListening }

    /// Queues the event, or drops it if the queue is full.
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
        // At most one task runs, and it ends when the queue is empty.
        if starts { Task(priority: .utility) { drain() } }
    }

    /// Waits until the observer has handled every event in the queue; call it, for example, before the program ends.
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
    /// Returns an observer with a queue, which may write to a disk or a network without slowing down calls.
    ///
    /// A task delivers the queued events one at a time and in order. When the queue is full, the newest events are
    /// dropped and counted. The pairs of `started` and `finished` are then incomplete.
    ///
    /// - Parameter eventCount: The maximum number of queued events; 1,024 by default.
    public func buffered(eventCount: Int = 1024) -> BufferedObserver<Self> {
        BufferedObserver(self, limit: eventCount)
    }
}
