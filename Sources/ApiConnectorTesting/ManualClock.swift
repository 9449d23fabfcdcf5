// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// A time source that a test moves by hand: `now` and `date` together, and nothing moves by itself.
///
/// ```swift
/// let clock = ManualClock()
/// async let post = api.value(Post.self, at: .post)      // waits, say, for a retry
/// #expect(try await clock.nextSleep() == .seconds(2))
/// clock.advance(by: .seconds(2))
/// ```
public final class ManualClock: TimeSource {
    /// What somebody sleeps for.
    public enum Sleep: Sendable, Hashable {
        /// A wait, such as before a retry, for tokens of a rate limit, or in a canned answer that is late.
        case wait
        /// A time limit, such as a connection's ``/ApiConnector/Timeouts``.
        case limit
    }

    private struct State {
        var now: Duration = .zero
        var sleepers: [Int: Sleeper] = [:]
        var nextNumber = 0
        var announced: Set<Int> = []
        var watchers: [Watcher] = []
        /// When the first of them has waited too long, and what then ends its wait: one timer for all.
        var limit: DispatchTime?
        var timer: WaitLimit?

        /// Notes a watcher's limit, if it is the first.
        mutating func needsTimer(_ deadline: DispatchTime) -> Bool {
            guard deadline < limit ?? .distantFuture else { return false }
            limit = deadline
            return true
        }

        /// Where the clock stands and who sleeps: all were announced, if somebody still waits for the next.
        func standing(for watcher: Watcher) -> String {
            let meant = sleepers.values.filter { watcher.isFor($0.sleep) }
            let lengths = meant.map { $0.due - now }.sorted().map { "\($0)" }
            let name = watcher.sleep.map { $0 == .wait ? " for a wait" : " for a limit" } ?? ""
            guard !lengths.isEmpty else { return "its time is \(now), and no task sleeps\(name)" }
            let list = lengths.joined(separator: ", ")
            return "its time is \(now), and earlier calls have returned each sleep\(name): \(list) left"
        }
    }

    private struct Watcher {
        let number: Int
        let sleep: Sleep?
        let limit: Duration
        let deadline: DispatchTime
        let continuation: CheckedContinuation<Result<Duration, any Error>, Never>

        func isFor(_ sleep: Sleep) -> Bool { self.sleep == nil || self.sleep == sleep }
    }

    private struct Sleeper {
        let sleep: Sleep
        let due: Duration
        let continuation: CheckedContinuation<Result<Void, CancellationError>, Never>
    }

    private let start: Date
    private let state = Locked(State())

    /// Makes a clock that stands.
    ///
    /// - Parameter date: The wall clock's date at the start; 1 January 2026, 00:00 UTC by default.
    public init(date: Date = Date(timeIntervalSince1970: 1_767_225_600)) {
        start = date
    }

    /// The time by which the clock was moved since it was made.
    public var now: Duration { state.withLock { $0.now } }

    /// The date at the start, moved by as much.
    public var date: Date { start.addingTimeInterval(now / .seconds(1)) }

    /// How many wait for the clock to be moved; a connection's limits of time are one.
    public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// Moves the clock, and wakes each task that has slept long enough, in the order of the due times, before it returns.
    ///
    /// It never goes back: a negative step does nothing.
    public func advance(by step: Duration) {
        let due = state.withLock { state in
            state.now += max(step, .zero)
            let due = state.sleepers.filter { $0.value.due <= state.now }
            for number in due.keys { state.sleepers[number] = nil }
            return due.sorted { ($0.value.due, $0.key) < ($1.value.due, $1.key) }
        }
        for sleeper in due { sleeper.value.continuation.resume(returning: .success(())) }
    }

    /// Waits until somebody sleeps who was not announced before, and tells for how long from now.
    ///
    /// All time limits of a connection are one sleeper, which sleeps until the first of them. It sleeps again, and is announced
    /// again, each time that the first of them changes: when an attempt ends, or when a part of a response arrives.
    /// `nextSleep(of: .wait)` leaves the limits out.
    ///
    /// - Parameters:
    ///   - sleep: What is waited for; nil, the default, is both.
    ///   - limit: The longest wait, in real time; a minute by default, longer where the machine is so busy that tasks stand
    ///     in line. A year and more is no limit: for what moves the clock beside a test, until it is canceled.
    /// - Throws: `CancellationError` as soon as the task is canceled; when nobody has begun to sleep in time, an error
    ///   that says so and who sleeps.
    public func nextSleep(of sleep: Sleep? = nil, within limit: Duration = .seconds(60)) async throws -> Duration {
        let number = makeNumber()
        let deadline = limit.dispatchDeadline
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                watch(
                    Watcher(number: number, sleep: sleep, limit: limit, deadline: deadline, continuation: continuation)
                )
            }
        } onCancel: {
            let watcher = state.withLock { state in
                let index = state.watchers.firstIndex { $0.number == number }
                return index.map { state.watchers.remove(at: $0).continuation }
            }
            watcher?.resume(returning: .failure(CancellationError()))
        }
        return try result.get()
    }

    private func makeNumber() -> Int {
        state.withLock { state in
            state.nextNumber += 1
            return state.nextNumber
        }
    }

    private func watch(_ watcher: Watcher) {
        var needsTimer = false
        let early = state.withLock { (state) -> Result<Duration, any Error>? in
            if Task.isCancelled { return .failure(CancellationError()) }
            let new = state.sleepers.filter { number, sleeper in
                !state.announced.contains(number) && watcher.isFor(sleeper.sleep)
            }
            if let next = new.min(by: { $0.key < $1.key }) {
                state.announced.insert(next.key)
                return .success(next.value.due - state.now)
            }
            state.watchers.append(watcher)
            needsTimer = state.needsTimer(watcher.deadline)
            return nil
        }
        if let early { watcher.continuation.resume(returning: early) }
        if needsTimer { setTimer(watcher.deadline) }
    }

    private func setTimer(_ deadline: DispatchTime) {
        let timer = WaitLimit(at: deadline) { [weak self] in self?.endWaits() }
        let unused = state.withLock { state in
            guard state.limit == deadline else { return timer }
            defer { state.timer = timer }
            return state.timer
        }
        // Outside the lock.
        withExtendedLifetime(unused) {}
    }

    /// Ends the waits that have lasted too long.
    private func endWaits() {
        let now = WaitLimit.now
        let (late, next) = state.withLock { state in
            let late = state.watchers.filter { $0.deadline <= now }.map { ($0, state.standing(for: $0)) }
            state.watchers.removeAll { $0.deadline <= now }
            state.limit = nil
            let next = state.watchers.map(\.deadline).min().flatMap { state.needsTimer($0) ? $0 : nil }
            return (late, next)
        }
        if let next { setTimer(next) }
        for (watcher, standing) in late {
            let text = "no task began to sleep on the manual clock within \(watcher.limit); \(standing)"
            watcher.continuation.resume(returning: .failure(WaitExpired(description: text)))
        }
    }

    /// Waits until the clock was moved to a time, however much of real time that takes: this is the time that passes.
    ///
    /// - Throws: `CancellationError` as soon as the task is canceled.
    public func sleep(until deadline: Duration) async throws {
        try await sleep(.wait, until: deadline)
    }

    /// Runs an action once the clock was moved to a time; for who waits for the next sleep, it is a limit.
    public func schedule(at due: Duration, _ action: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        let task = Task(priority: .high) {
            guard (try? await sleep(.limit, until: due)) != nil else { return }
            action()
        }
        return { task.cancel() }
    }

    private func sleep(_ sleep: Sleep, until deadline: Duration) async throws {
        let number = makeNumber()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { add(Sleeper(sleep: sleep, due: deadline, continuation: $0), number) }
        } onCancel: {
            let sleeper = state.withLock { $0.sleepers.removeValue(forKey: number) }
            sleeper?.continuation.resume(returning: .failure(CancellationError()))
        }
        try result.get()
    }

    private func add(_ sleeper: Sleeper, _ number: Int) {
        var early: Result<Void, CancellationError>?
        var watcher: Watcher?
        var length = Duration.zero
        state.withLock { state in
            length = sleeper.due - state.now
            if Task.isCancelled {
                early = .failure(CancellationError())
            } else if length <= .zero {
                early = .success(())
            } else {
                state.sleepers[number] = sleeper
                guard let index = state.watchers.firstIndex(where: { $0.isFor(sleeper.sleep) }) else { return }
                state.announced.insert(number)
                watcher = state.watchers.remove(at: index)
            }
        }
        if let early { sleeper.continuation.resume(returning: early) }
        watcher?.continuation.resume(returning: .success(length))
    }
}
