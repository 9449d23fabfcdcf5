// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Reports the events of one request to one observer, one at a time and in order.
///
/// The queue holds the events that other threads of the call report while the observer is busy. It is short, because a
/// call does few things at once.
final class CallEvents: Sendable {
    fileprivate struct State {
        var queue: [CallEvent] = []
        var isDelivering = false
        var isOver = false
        var attemptCount = 0
        var byteCount = 0
        var cacheHit: CacheHit?
    }

    /// Reports to the next observer further out.
    private let outer: CallEvents?
    private let random: @Sendable () -> UInt64
    private let request: ApiRequest
    private let context: CallContext
    private let observer: any CallObserver
    private let timeSource: any TimeSource
    private let start: Duration
    private let state = Locked(State())

    /// - Parameter request: The request as it passed the observer; `events` is set by the observers further out.
    init(
        _ request: ApiRequest,
        observer: any CallObserver,
        timeSource: any TimeSource,
        random: @escaping @Sendable () -> UInt64
    ) {
        outer = request.events
        self.random = random
        self.request = request
        context = request.context ?? CallContext()
        self.observer = observer
        self.timeSource = timeSource
        start = timeSource.now
        deliver(.started, at: start, of: request, attempt: request.attempt)
    }

    /// Reports an event of an inner provider, or of the connection, to this observer and all observers further out.
    ///
    /// - Parameter afterEnd: Whether the event can follow the end of the request, like the retry of a stream.
    func report(_ kind: CallEvent.Kind, of request: ApiRequest, afterEnd: Bool) {
        deliver(at: timeSource.now, of: request, attempt: request.attempt, afterEnd: afterEnd) { _ in kind }
        outer?.report(kind, of: request, afterEnd: afterEnd)
    }

    func head(of response: ApiResponse) {
        deliver(.head(response.status), at: timeSource.now, of: response.request, attempt: request.attempt)
    }

    func bytes(_ count: Int, of response: ApiRequest) {
        deliver(.bytes(count: count), at: timeSource.now, of: response, attempt: request.attempt)
    }

    /// - Parameters:
    ///   - sent: The request as it was sent, if known.
    ///   - record: The times that the transport measured; nil if it measured none.
    func finish(_ outcome: CallEvent.Outcome, of sent: ApiRequest? = nil, _ record: TransportTimesRecord? = nil) {
        let now = timeSource.now
        deliver(at: now, of: sent ?? request, attempt: request.attempt) { state in
            let totals = CallTotals(
                outcome: outcome,
                elapsed: now - start,
                byteCount: state.byteCount,
                attemptCount: max(state.attemptCount, state.cacheHit == nil || state.cacheHit == .validated ? 1 : 0),
                cacheHit: state.cacheHit,
                timesRecord: record
            )
            return .finished(totals)
        }
    }

    private func deliver(_ kind: CallEvent.Kind, at time: Duration, of request: ApiRequest, attempt: Int) {
        deliver(at: time, of: request, attempt: attempt) { _ in kind }
    }

    /// - Parameter makeKind: Makes the event's kind from the state.
    private func deliver(
        at time: Duration,
        of request: ApiRequest,
        attempt: Int,
        afterEnd: Bool = false,
        _ makeKind: (State) -> CallEvent.Kind
    ) {
        func event(_ kind: CallEvent.Kind) -> CallEvent {
            CallEvent(of: request, in: context, attempt: attempt, time: time, kind: kind, random: random)
        }
        let kind: CallEvent.Kind? = state.withLock { state in
            let kind = makeKind(state)
            guard state.admits(kind) || afterEnd else { return nil }
            guard !state.isDelivering else {
                state.queue.append(event(kind))
                return nil
            }
            state.isDelivering = true
            return kind
        }
        guard let kind else { return }
        // An event copies the request, so an event that does not wait in the queue is made outside the lock.
        observer.handle(event(kind))
        while let next = state.withLock({ $0.next() }) { observer.handle(next) }
    }
}

extension CallEvents.State {
    /// Counts an event, and returns whether it may be reported; after the end, only a redirect may.
    fileprivate mutating func admits(_ kind: CallEvent.Kind) -> Bool {
        let wasOver = isOver
        switch kind {
        case .redirected: return true
        case .finished: isOver = true
        case .attemptStarted: attemptCount += 1
        case .bytes(let count): byteCount += count
        case .servedFromCache(let hit): cacheHit = hit
        default: break
        }
        return !wasOver
    }

    fileprivate mutating func next() -> CallEvent? {
        guard !queue.isEmpty else {
            isDelivering = false
            return nil
        }
        return queue.removeFirst()
    }
}

extension RequestState {
    /// Where a request reports its events.
    struct Events: Sendable { fileprivate var observers: CallEvents? }
}

extension ApiRequest {
    /// Reports events to the observers; nil without an observer.
    var events: CallEvents? { state.storage?.parts.events.observers }

    /// Makes the request report its events; nil for no observers.
    mutating func reportEvents(to events: CallEvents?) {
        if events !== self.events { state.change { $0.events.observers = events } }
    }

    /// Makes the request report to the observers of another request.
    mutating func joinObservers(of other: ApiRequest) { reportEvents(to: other.events) }

    /// Reports an event of this request to every observer further out.
    ///
    /// `kind` is not evaluated if there is no observer. Your own wrapper reports ``CallEvent/Kind/custom(_:details:)``.
    public func report(_ kind: @autoclosure () -> CallEvent.Kind) {
        events?.report(kind(), of: self, afterEnd: false)
    }

    /// Reports an event to every observer further out, even after the end of this request.
    func report(_ kind: @autoclosure () -> CallEvent.Kind, afterEnd: Bool) {
        events?.report(kind(), of: self, afterEnd: afterEnd)
    }
}
