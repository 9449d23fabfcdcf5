// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Tells one observer what happens to one request that passed it, one event at a time and in order.
///
/// Its queue holds what other threads of the same call report while the observer is busy: as many events as things that
/// the call does at once, which are few.
final class CallEvents: Sendable {
    fileprivate struct State {
        var queue: [CallEvent] = []
        var isDelivering = false
        var isOver = false
        var attemptCount = 0
        var byteCount = 0
    }

    /// What an observer further out is told by.
    private let outer: CallEvents?
    private let random: @Sendable () -> UInt64
    private let request: ApiRequest
    private let context: CallContext
    private let observer: any CallObserver
    private let timeSource: any TimeSource
    private let start: Duration
    private let state = Locked(State())

    /// - Parameter request: As it passed the observer, with what the observers further out are told by.
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

    /// What a provider further in, or the connection, did with the request: every observer further out is told.
    ///
    /// - Parameter afterEnd: Whether it is known only after the request's end, as the retry of a stream.
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
    ///   - sent: The request as it was sent, where that is known.
    ///   - record: What the transport has measured; nil for nothing.
    func finish(_ outcome: CallOutcome, of sent: ApiRequest? = nil, _ record: TransportTimesRecord? = nil) {
        let now = timeSource.now
        deliver(at: now, of: sent ?? request, attempt: request.attempt) { state in
            let totals = CallTotals(
                outcome: outcome,
                elapsed: now - start,
                byteCount: state.byteCount,
                attemptCount: max(state.attemptCount, 1),
                timesRecord: record
            )
            return .finished(totals)
        }
    }

    private func deliver(_ kind: CallEvent.Kind, at time: Duration, of request: ApiRequest, attempt: Int) {
        deliver(at: time, of: request, attempt: attempt) { _ in kind }
    }

    /// - Parameter makeKind: What happened, where it says something of all that came before.
    private func deliver(
        at time: Duration,
        of request: ApiRequest,
        attempt: Int,
        afterEnd: Bool = false,
        _ makeKind: (State) -> CallEvent.Kind
    ) {
        var first: CallEvent?
        state.withLock { state in
            let kind = makeKind(state)
            guard state.admits(kind) || afterEnd else { return }
            let event = CallEvent(
                of: request,
                in: context,
                attempt: attempt,
                time: time,
                kind: kind,
                random: random
            )
            if state.isDelivering { state.queue.append(event) } else { first = event }
            state.isDelivering = true
        }
        guard let first else { return }
        observer.handle(first)
        while let next = state.withLock({ $0.next() }) { observer.handle(next) }
    }
}

extension CallEvents.State {
    /// Nothing comes behind the end but the redirect that it was, and no second end.
    fileprivate mutating func admits(_ kind: CallEvent.Kind) -> Bool {
        let wasOver = isOver
        switch kind {
        case .redirected: return true
        case .finished: isOver = true
        case .attemptStarted: attemptCount += 1
        case .bytes(let count): byteCount += count
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

extension ApiRequest {
    /// Tells every observer further out what a provider does with this request.
    ///
    /// `kind` is not evaluated if there is no observer. Your own wrapper reports ``CallEvent/Kind/custom(_:details:)``.
    public func report(_ kind: @autoclosure () -> CallEvent.Kind) {
        events?.report(kind(), of: self, afterEnd: false)
    }

    /// Tells every observer further out, even if it was told the end of this request.
    func report(_ kind: @autoclosure () -> CallEvent.Kind, afterEnd: Bool) {
        events?.report(kind(), of: self, afterEnd: afterEnd)
    }
}
