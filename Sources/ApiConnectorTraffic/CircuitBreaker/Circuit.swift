// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// The circuit breaker of one host: a state machine that gets the time as an argument.
///
/// As in Michael T. Nygard, Release It!, 2nd edition, section 5.2: closed, open, half-open.
struct Circuit {
    enum Outcome {
        case success, failure
        /// The outcome says nothing about the host, such as a cancellation.
        case nothing
    }

    enum Admission: Equatable {
        /// The request is sent. The number is for ``record(_:of:now:)``.
        case pass(Int)
        case probe(Int)
        case refuse(since: Duration, until: Duration)
    }

    private enum State {
        case closed(FailureWindow)
        case open(since: Duration, until: Duration)
        case halfOpen(HalfOpen)
    }

    private struct HalfOpen {
        let since: Duration
        let until: Duration
        var inFlightCount = 0
        var successCount = 0
        var lastProbeTime: Duration
    }

    private let policy: CircuitPolicy
    private let openDuration: Duration
    private var state: State
    /// Counts the changes of state.
    ///
    /// Outcomes of requests admitted before the last change are ignored.
    private var generation = 0
    /// The time of its last use.
    private(set) var lastUse: Duration = .zero
    /// This instance's view of the circuit in the shared state.
    var view = SharedCircuitView()

    init(_ policy: CircuitPolicy) {
        self.policy = policy
        openDuration = policy.openDuration.bounded
        state = .closed(FailureWindow(policy.window))
    }

    mutating func admit(now: Duration) -> Admission {
        lastUse = now
        if case .open(let since, let until) = state, until <= now {
            change(to: .halfOpen(HalfOpen(since: since, until: until, lastProbeTime: now)))
        }
        switch state {
        case .closed:
            return .pass(generation)
        case .open(let since, let until):
            return .refuse(since: since, until: until)
        case .halfOpen(var half):
            // A trial request may hang, so after the open duration another one is admitted.
            guard
                half.inFlightCount + half.successCount < max(policy.probeCount, 1)
                    || half.lastProbeTime + openDuration <= now
            else { return .refuse(since: half.since, until: half.until) }
            half.inFlightCount += 1
            half.lastProbeTime = now
            state = .halfOpen(half)
            return .probe(generation)
        }
    }

    /// Records the outcome of an admitted request.
    ///
    /// - Returns: The change of state; nil if there is none.
    mutating func record(_ outcome: Outcome, of admitted: Int, now: Duration) -> CircuitEvent? {
        guard admitted == generation else { return nil }
        switch state {
        case .closed(var window):
            guard outcome != .nothing else { return nil }
            window.add(isFailure: outcome == .failure, now: now)
            state = .closed(window)
            guard outcome == .failure, window.count >= policy.minimumCount, window.share >= policy.failureShare else {
                return nil
            }
            open(now)
            return .opened
        case .halfOpen(var half):
            half.inFlightCount -= 1
            if outcome == .failure {
                open(now)
                return .opened
            }
            if outcome == .success { half.successCount += 1 }
            if half.successCount >= max(policy.probeCount, 1) {
                change(to: .closed(FailureWindow(policy.window)))
                return .closed
            }
            state = .halfOpen(half)
            return nil
        case .open:
            return nil
        }
    }

    /// Whether the state has not changed since a request was admitted.
    func isCurrent(_ admitted: Int) -> Bool { admitted == generation }

    /// Follows a change that another instance has made.
    mutating func follow(_ news: SharedCircuitView.News, now: Duration) {
        switch (news, state) {
        case (.opened, _): open(now)
        case (.isOver, .open(let since, let until)) where until > now:
            change(to: .open(since: since, until: now))
        case (.closed, .open), (.closed, .halfOpen):
            change(to: .closed(FailureWindow(policy.window)))
        default: break
        }
    }

    /// Leaves the trial request to another instance for a time, unless the circuit has closed or opened again.
    mutating func yield(for interval: Duration, now: Duration) {
        guard case .halfOpen(let half) = state else { return }
        view.refuse()
        change(to: .open(since: half.since, until: now + interval))
    }

    private mutating func open(_ now: Duration) {
        change(to: .open(since: now, until: now + openDuration))
    }

    private mutating func change(to state: State) {
        self.state = state
        generation += 1
    }
}

/// The open circuit of a host: the ``/ApiConnector/ApiConnectorError/underlying`` error of an
/// ``/ApiConnector/ApiConnectorError`` of kind `.circuitOpen`.
public struct OpenCircuit: Error, Sendable, Hashable {
    /// Scheme, host and port.
    public let origin: String

    /// When the circuit opened.
    public let since: Date

    /// When a trial request is admitted; in the past while a trial request is running.
    public let until: Date
}

extension ApiConnectorError {
    static func circuitOpen(
        _ origin: HTTPOrigin,
        since: Duration,
        until: Duration,
        for request: ApiRequest
    ) -> ApiConnectorError {
        let now = request.timeSource.now
        let date = request.timeSource.date
        let circuit = OpenCircuit(
            origin: origin.description,
            since: date.addingTimeInterval((since - now) / .seconds(1)),
            until: date.addingTimeInterval((until - now) / .seconds(1))
        )
        let left = (until - now).inMilliseconds(rounded: .up)
        let end =
            until > now
            ? "until \(circuit.until.formatted(.iso8601)), in \(left)"
            : "until a trial request succeeds"
        return ApiConnectorError(
            .circuitOpen,
            "requests to \(circuit.origin) kept failing; its circuit is open since "
                + "\(circuit.since.formatted(.iso8601)), \(end)",
            request: request,
            underlying: circuit
        )
    }
}
