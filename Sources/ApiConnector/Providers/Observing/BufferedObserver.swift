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
        var waiters: [PendingResult<Void>] = []
    }

    private static var flushLimit: Duration { .seconds(10) }

    private let base: Base
    private let limit: Int
    private let timeSource: any TimeSource
    private let state = Locked(State())
    /// The observer may block its thread, which must not be one of the few that run tasks.
    private let queue = DispatchQueue(label: "ApiConnector.BufferedObserver", qos: .utility)

    init(_ base: Base, limit: Int, timeSource: any TimeSource = .system) {
        self.base = base
        self.limit = limit
        self.timeSource = timeSource
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
        if starts { queue.async { [self] in drain() } }
    }

    /// Waits until the observer has handled every event in the queue; call it, for example, before the program ends.
    ///
    /// It waits for at most 10 seconds, because the observer may wait for a disk or a network that does not respond.
    /// After that, the observer still handles the rest of the events.
    ///
    /// - Returns: Whether the observer has handled every event.
    @discardableResult
    public func flush() async -> Bool {
        let end = PendingResult<Void>()
        let isEmpty = state.withLock { state in
            if state.isDraining { state.waiters.append(end) }
            return !state.isDraining
        }
        if isEmpty { return true }
        let late = ApiConnectorError(.timedOut, "the observer has not handled every event")
        if case .success = await end.result(within: Self.flushLimit, by: timeSource, or: late) { return true }
        state.withLock { $0.waiters.removeAll { $0 === end } }
        return false
    }

    private func drain() {
        while true {
            let (events, waiters) = state.withLock { state in
                defer { state.queue = [] }
                guard state.queue.isEmpty else { return (state.queue, [] as [PendingResult<Void>]) }
                state.isDraining = false
                defer { state.waiters = [] }
                return (state.queue, state.waiters)
            }
            for waiter in waiters { waiter.resume(with: .success(())) }
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
    /// The observer handles the queued events on its own thread, one at a time and in order. When the queue is full, the
    /// newest events are dropped and counted. The pairs of `started` and `finished` are then incomplete.
    ///
    /// - Parameter eventCount: The maximum number of queued events; 1,024 by default.
    public func buffered(eventCount: Int = 1024) -> BufferedObserver<Self> {
        BufferedObserver(self, limit: eventCount)
    }
}
