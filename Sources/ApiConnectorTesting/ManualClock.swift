// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// A virtual clock for tests: `now` and `date` change only when the test advances the clock.
///
/// ```swift
/// let clock = ManualClock()
/// async let post = api.value(Post.self, at: .post)      // waits, say, for a retry
/// #expect(try await clock.nextSleep() == .seconds(2))
/// clock.advance(by: .seconds(2))
/// ```
public final class ManualClock: TimeSource {
    /// The purpose of a sleep.
    public enum Sleep: Sendable, Hashable {
        /// A wait, such as a retry delay, a wait for a rate limit, or the delay of a canned answer.
        case wait
        /// A timeout, such as a connection's ``/ApiConnector/Timeouts``.
        case limit
    }

    private struct State {
        var now: Duration = .zero
        var sleepers: [Int: Sleeper] = [:]
        var nextNumber = 0
        var announced: Set<Int> = []
        var watchers: [Watcher] = []
        /// The earliest deadline of all watchers.
        ///
        /// One timer serves all of them.
        var limit: DispatchTime?
        var timer: WaitLimit?

        /// Records a watcher's deadline if it is earlier than the recorded one.
        ///
        /// Returns whether the deadline needs a timer.
        mutating func needsTimer(_ deadline: DispatchTime) -> Bool {
            guard deadline < limit ?? .distantFuture else { return false }
            limit = deadline
            return true
        }

        /// A text with the clock's time and its sleepers, for the error of a watcher.
        ///
        /// A watcher waits only if earlier calls have already returned all of these sleeps.
        func standing(for watcher: Watcher) -> String {
            let meant = left { watcher.isFor($0) }
            let name = watcher.sleep.map { " for a \($0)" } ?? ""
            let others = left { !watcher.isFor($0) }
            let rest = others.isEmpty ? "" : "; the other sleeps have \(others) left"
            guard !meant.isEmpty else { return "its time is \(now), and no task sleeps\(name)\(rest)" }
            return "its time is \(now), and earlier calls have returned each sleep\(name): \(meant) left\(rest)"
        }

        /// The time that is left of each sleep with a purpose, in order; empty if there is no such sleep.
        func left(_ isMeant: (Sleep) -> Bool) -> String {
            let lengths = sleepers.values.filter { isMeant($0.sleep) }.map { $0.due - now }.sorted()
            return lengths.map { "\($0)" }.joined(separator: ", ")
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

    /// Makes a clock at time zero.
    ///
    /// - Parameter date: The wall clock's date at the start; 1 January 2026, 00:00 UTC by default.
    public init(date: Date = Date(timeIntervalSince1970: 1_767_225_600)) {
        start = date
        ScriptScope.current?.add(self)
    }

    /// A sentence about the sleeps that have not ended; nil if there are none.
    var unfinishedSleeps: String? {
        let (now, waits, limits) = state.withLock { ($0.now, $0.left { $0 == .wait }, $0.left { $0 == .limit }) }
        let parts = [("waits", waits), ("time limits", limits)].filter { !$0.1.isEmpty }
        guard !parts.isEmpty else { return nil }
        let list = parts.map { "\($0.0) with \($0.1) left" }.joined(separator: ", and ")
        return "a manual clock, whose time is \(now), has \(list)"
    }

    /// The total time by which the test has advanced the clock.
    public var now: Duration { state.withLock { $0.now } }

    /// The date at the start plus ``now``.
    public var date: Date { start.addingTimeInterval(now / .seconds(1)) }

    /// The number of tasks that sleep on the clock.
    ///
    /// All timeouts of a connection count as one.
    public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// Advances the clock, and wakes each task whose sleep is over, in the order of their deadlines.
    ///
    /// All of these tasks are woken before the method returns.
    ///
    /// The clock never goes back, so a negative step does nothing.
    public func advance(by step: Duration) {
        let due = state.withLock { state in
            state.now += max(step, .zero)
            let due = state.sleepers.filter { $0.value.due <= state.now }
            for number in due.keys { state.sleepers[number] = nil }
            return due.sorted { ($0.value.due, $0.key) < ($1.value.due, $1.key) }
        }
        for sleeper in due { sleeper.value.continuation.resume(returning: .success(())) }
    }

    /// Waits until a task begins to sleep on the clock, and returns the time until the end of its sleep.
    ///
    /// Each sleep is returned once.
    ///
    /// All timeouts of a connection are one sleep, which ends when the first of them is due. When the first timeout
    /// changes, such as at the end of an attempt or when a part of a response arrives, a new sleep begins. The method
    /// returns the new sleep too. `nextSleep(of: .wait)` ignores timeouts.
    ///
    /// - Parameters:
    ///   - sleep: The purpose to wait for; nil, the default, means both.
    ///   - limit: The longest wait in real time; one minute by default. The wait is longer on a machine that is so busy
    ///     that tasks wait for a thread. One year or more means no limit: use it in a task that advances the clock
    ///     until the task is canceled.
    /// - Throws: `CancellationError` as soon as the task is canceled. If no task begins to sleep in time, an error that
    ///   lists the current sleeps.
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
        // An unused timer is released outside the lock.
        withExtendedLifetime(unused) {}
    }

    /// Ends the waits that have timed out.
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

    /// Waits until the clock is advanced to a time, however long that takes in real time.
    ///
    /// - Throws: `CancellationError` as soon as the task is canceled.
    public func sleep(until deadline: Duration) async throws {
        try await sleep(.wait, until: deadline)
    }

    /// Runs an action when the clock is advanced to a time.
    ///
    /// ``nextSleep(of:within:)`` returns it as a sleep of purpose ``Sleep/limit``.
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
