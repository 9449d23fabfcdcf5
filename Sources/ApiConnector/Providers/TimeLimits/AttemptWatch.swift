// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Ends the waits of one attempt when a time limit is reached.
///
/// The limits are entries in the connection's timer queue. The waiting code (a transport, a test double) passes a
/// function that ends its wait to ``ApiRequest/withStopHandler(_:readPending:onStop:)``.
final class AttemptWatch: Sendable {
    /// Ends a wait; a wait within another wait has its own function.
    typealias Stop = @Sendable (ApiConnectorError) -> Void

    /// Reads pending bytes, and then calls the closure in its parameter.
    typealias ReadPending = @Sendable (_ completion: @escaping @Sendable () -> Void) -> Void

    private struct Wait {
        let number: Int
        var appliesStall: Bool
        let stop: Stop
    }

    /// A reference, because an error is large and almost no attempt reaches a limit.
    private final class Reason: Sendable {
        let error: ApiConnectorError

        init(_ error: ApiConnectorError) {
            self.error = error
        }
    }

    /// The running timer of the stall timeout.
    ///
    /// `entry` is nil until the queue has returned it. The timer may run before that.
    private struct StallTimer {
        let number: Int
        var entry: TimerQueue.Entry?
    }

    private struct State {
        var waits: [Wait] = []
        var nextNumber = 0
        var reason: Reason?
        /// Reads pending bytes; the function of the last attached wait.
        var readPending: ReadPending?
        /// The time of the last progress, or of the start of the wait.
        var lastProgress = Duration.zero
        var limitEntry: TimerQueue.Entry?
        var stallTimer: StallTimer?
        var isOver = false

        /// Whether a wait needs the stall timeout.
        ///
        /// It is false after the watch has ended. A wait may be attached even then, by a task that still runs although
        /// its caller no longer waits for it.
        var appliesStall: Bool {
            reason == nil && !isOver && waits.contains(where: \.appliesStall)
        }

        /// Stores why the waits end, and returns the functions that end them; only the first reason counts.
        mutating func stop(_ error: ApiConnectorError) -> [Stop] {
            guard !isOver, reason == nil else { return [] }
            reason = Reason(error)
            return waits.map(\.stop)
        }

        /// The number of a new timer; nil if a timer runs or no wait needs one.
        mutating func nextStallTimer() -> Int? {
            guard stallTimer == nil, appliesStall else { return nil }
            nextNumber += 1
            stallTimer = StallTimer(number: nextNumber)
            return nextNumber
        }
    }

    private let timers: TimerQueue
    private let guards: TimerQueue
    private let timeouts: Timeouts
    private let limits: AttemptLimits?
    private let attempt: Int?
    private let deadline: Duration?
    private let state: Locked<State>

    /// Starts watching.
    ///
    /// - Parameters:
    ///   - deadline: When the whole call has to end, as a time of the timers' time source.
    ///   - limits: The request's limits; nil without a request.
    ///   - attempt: The request's attempt; nil without a request.
    ///   - guards: Limits the time for reading pending bytes. Not the timers of a test's clock, which may never advance.
    init(
        _ timeouts: Timeouts,
        deadline: Duration?,
        timers: TimerQueue,
        limits: AttemptLimits? = nil,
        attempt: Int? = nil,
        guards: TimerQueue = .system
    ) {
        self.guards = guards
        self.limits = limits
        self.attempt = attempt
        self.deadline = deadline
        self.timers = timers
        self.timeouts = timeouts
        state = Locked(State())
        let attemptEnd = timeouts.attempt.map { timers.timeSource.now + $0 }
        if let attempt = timeouts.attempt, let end = attemptEnd, end <= deadline ?? end {
            startLimit(at: end, .timedOut, "the attempt did not finish within \(attempt)")
        } else if let deadline {
            startLimit(at: deadline, .deadlineExceeded, "the call did not finish before its deadline")
        }
    }

    /// Whether this watch is for a request: the same attempt with the same limits.
    func watches(_ request: ApiRequest) -> Bool {
        limits === request.limits && attempt == request.attempt && deadline == request.deadline
            && state.withLock { !$0.isOver }
    }

    /// Ends the watch without stopping any wait.
    func end() {
        let (limit, stall) = state.withLock { state in
            state.isOver = true
            state.waits = []
            state.readPending = nil
            return (state.limitEntry.take(), state.stallTimer.take()?.entry)
        }
        if let limit { timers.remove(limit) }
        if let stall { timers.remove(stall) }
    }

    /// Adds a wait with the function that ends it.
    ///
    /// Calls the function immediately if a limit was already reached.
    ///
    /// - Parameters:
    ///   - appliesStall: Whether the waiting code reports progress, so that the stall timeout can apply.
    ///   - readPending: Reads pending bytes before a time limit ends a wait; used until the watch ends.
    /// - Returns: A number for ``detach(_:)``.
    func attach(appliesStall: Bool, _ readPending: ReadPending? = nil, _ stop: @escaping Stop) -> Int {
        let now = timers.timeSource.now
        let (number, timer, reason) = state.withLock { state in
            state.nextNumber += 1
            let number = state.nextNumber
            if let readPending, !state.isOver { state.readPending = readPending }
            if state.reason == nil {
                state.waits.append(Wait(number: number, appliesStall: appliesStall, stop: stop))
            }
            state.lastProgress = now
            return (number, appliesStall && stall != nil ? state.nextStallTimer() : nil, state.reason)
        }
        if let reason { stop(reason.error) }
        if let timer { startStallTimer(timer, from: now) }
        return number
    }

    /// Records that an attached reader starts or stops waiting for bytes.
    ///
    /// The timer's entry stays in the queue, so that a fast body does not add and remove an entry for every chunk.
    func applyStall(_ appliesStall: Bool, of number: Int) {
        guard stall != nil else { return }
        let now = timers.timeSource.now
        let timer = state.withLock { state in
            guard let index = state.waits.firstIndex(where: { $0.number == number }) else { return nil as Int? }
            state.waits[index].appliesStall = appliesStall
            state.lastProgress = now
            return appliesStall ? state.nextStallTimer() : nil
        }
        if let timer { startStallTimer(timer, from: now) }
    }

    func detach(_ number: Int) {
        let entry = state.withLock { state in
            state.waits.removeAll { $0.number == number }
            return state.appliesStall ? nil : state.stallTimer.take()?.entry
        }
        if let entry { timers.remove(entry) }
    }

    /// Records bytes that were sent or received.
    func reportProgress() {
        guard stall != nil else { return }
        let now = timers.timeSource.now
        state.withLock { $0.lastProgress = now }
    }

    private var stall: Duration? { timeouts.stall }

    private func startLimit(at due: Duration, _ kind: ApiConnectorError.Kind, _ detail: String) {
        let entry = timers.add(at: due) { [weak self] in self?.reachLimit(ApiConnectorError(kind, detail)) }
        let isOver = state.withLock { state in
            state.limitEntry = entry
            return state.isOver
        }
        if isOver { timers.remove(entry) }
    }

    private func startStallTimer(_ number: Int, from start: Duration) {
        guard let stall else { return }
        let entry = timers.add(at: start + stall) { [weak self] in self?.checkStall(number) }
        let isCurrent = state.withLock { state in
            guard state.stallTimer?.number == number else { return false }
            state.stallTimer?.entry = entry
            return true
        }
        if !isCurrent { timers.remove(entry) }
    }

    private func checkStall(_ number: Int) {
        let (isCurrent, readPending) = state.withLock { state in
            guard state.stallTimer?.number == number else { return (false, nil as ReadPending?) }
            state.stallTimer = nil
            return (true, state.readPending)
        }
        guard isCurrent else { return }
        guard let readPending, isStalled() else { return endStall() }
        // Bytes may be pending: when a suspended process continues, its timers fire and its sockets become readable at
        // the same moment.
        read(readPending) { [weak self] in self?.endStall() }
    }

    /// Whether the time without progress has reached the limit.
    private func isStalled() -> Bool {
        guard let stall else { return false }
        return timers.timeSource.now - state.withLock { $0.lastProgress } >= stall
    }

    /// Ends the waits if there is still no progress; otherwise continues to watch.
    private func endStall() {
        guard let stall else { return }
        let now = timers.timeSource.now
        // A transport may not see the first bytes of a head. So the text is about the head as a whole, and does not
        // mention its bytes.
        let error = ApiConnectorError(
            .stalled,
            "no body byte was sent or received, and no response head arrived, for \(stall)"
        )
        let (stops, timer, lastProgress) = state.withLock { state in
            // A newer wait has its own timer.
            guard state.stallTimer == nil, state.appliesStall else { return ([Stop](), nil as Int?, Duration.zero) }
            if now - state.lastProgress >= stall { return (state.stop(error), nil, .zero) }
            return ([], state.nextStallTimer(), state.lastProgress)
        }
        if let timer { startStallTimer(timer, from: lastProgress) }
        for stop in stops { stop(error) }
    }

    /// Ends the waits, after pending bytes are read: they may be the end of the response.
    private func reachLimit(_ error: ApiConnectorError) {
        guard let readPending = state.withLock({ $0.readPending }) else { return stop(error) }
        read(readPending) { [weak self] in self?.stop(error) }
    }

    /// How long a transport may take to read pending bytes: 5 seconds.
    ///
    /// CurlProvider does not need this limit. A shorter one could end a call on a machine so busy that the thread that
    /// reads has not run.
    static let pendingLimit = Duration.seconds(5)

    /// Reads pending bytes, and then applies a limit.
    ///
    /// The limit is applied after ``pendingLimit`` in any case, so a transport that does not call its completion cannot
    /// disable the limit.
    private func read(_ readPending: ReadPending, then applyLimit: @escaping @Sendable () -> Void) {
        let state = Locked((isApplied: false, entry: TimerQueue.Entry?.none))
        let apply: @Sendable () -> Void = { [guards] in
            let (wasApplied, entry) = state.withLock { state in
                defer { state.isApplied = true }
                return (state.isApplied, state.entry.take())
            }
            if let entry { guards.remove(entry) }
            if !wasApplied { applyLimit() }
        }
        readPending(apply)
        // Most transports have called the closure by now, and need no timer.
        guard !state.withLock({ $0.isApplied }) else { return }
        let entry = guards.add(at: guards.timeSource.now + Self.pendingLimit, apply)
        let isApplied = state.withLock { state in
            state.entry = entry
            return state.isApplied
        }
        if isApplied { guards.remove(entry) }
    }

    private func stop(_ error: ApiConnectorError) {
        let stops = state.withLock { $0.stop(error) }
        for stop in stops { stop(error) }
    }
}

/// A streamed body with the time limits of its attempt.
///
/// The attempt's limit and the call's deadline also run while no reader waits. When one of them is reached, the
/// transfer ends, and buffered data is discarded. The stall limit runs only while a reader waits for data.
final class WatchedBody: ResponseBodySource {
    private struct State {
        /// The number that `AttemptWatch.attach` returned for the reader.
        var number: Int?
        /// The error of the limit that was reached.
        var reason: ApiConnectorError?
    }

    private let reader: ResponseBodyReader
    private let request: ApiRequest
    private let watch: AttemptWatch
    private let state = Locked(State())

    /// Takes over the body of a response, and the watch, which ends with the body.
    init(_ reader: ResponseBodyReader, of request: ApiRequest, watch: AttemptWatch) throws(ApiConnectorError) {
        try reader.claim()
        self.reader = reader
        self.request = request
        self.watch = watch
        let number = watch.attach(appliesStall: false) { [weak self] in self?.stop($0) }
        state.withLock { $0.number = number }
    }

    var isWatched: Bool { true }

    func next() async throws(ApiConnectorError) -> Data? {
        let number = state.withLock { $0.number }
        if let number { watch.applyStall(true, of: number) }
        let result: Result<Data?, ApiConnectorError>
        do throws(ApiConnectorError) {
            result = .success(try await reader.next())
        } catch {
            result = .failure(error)
        }
        if let number { watch.applyStall(false, of: number) }
        if let reason = state.withLock({ $0.reason }) {
            watch.end()
            throw reason
        }
        if case .success(.some) = result {} else { watch.end() }
        return try result.get()
    }

    func cancel() {
        watch.end()
        reader.cancel()
    }

    private func stop(_ reason: ApiConnectorError) {
        state.withLock { $0.reason = $0.reason ?? reason.completed(request: request) }
        reader.cancel()
    }
}
