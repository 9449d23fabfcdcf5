// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// A time source whose waits take no real time: it moves forward by itself to the next due time.
///
/// A wait, such as a retry delay, ends as soon as no request waits for a server that will answer. A timeout fires only
/// when a request waits for a silent server and nothing else can happen.
final class SkippingClock: TimeSource {
    private typealias Action = @Sendable () -> Void

    private struct Sleeper {
        let due: Duration
        /// Whether the sleeper is a server that is silent.
        let isServing: Bool
        let continuation: CheckedContinuation<Result<Void, CancellationError>, Never>
    }

    private struct State {
        var now = Duration.zero
        var nextNumber = 0
        var sleepers: [Int: Sleeper] = [:]
        var alarms: [Int: (due: Duration, action: Action)] = [:]
        /// The number of requests that wait for a server that will answer, plus the number of running alarms.
        var busyCount = 0
        /// The number of requests that wait for a silent server.
        var silentCount = 0

        mutating func add(_ sleeper: Sleeper, _ number: Int) {
            sleepers[number] = sleeper
            guard sleeper.isServing else { return }
            busyCount -= 1
            silentCount += 1
        }

        mutating func remove(_ number: Int) -> Sleeper? {
            guard let sleeper = sleepers.removeValue(forKey: number) else { return nil }
            guard sleeper.isServing else { return sleeper }
            busyCount += 1
            silentCount -= 1
            return sleeper
        }
    }

    /// Whether this task does a server's work.
    ///
    /// Its waits then count as the server's silence.
    @TaskLocal static var isServing = false

    private let start = Date(timeIntervalSince1970: 1_767_225_600)
    private let state = Locked(State())

    var now: Duration { state.withLock { $0.now } }
    var date: Date { start.addingTimeInterval(now / .seconds(1)) }

    // MARK: - Waiting

    func sleep(until deadline: Duration) async throws {
        let number = nextNumber()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let sleeper = Sleeper(due: deadline, isServing: Self.isServing, continuation: continuation)
                var early: Result<Void, CancellationError>?
                change { state in
                    if Task.isCancelled {
                        early = .failure(CancellationError())
                    } else if deadline <= state.now {
                        early = .success(())
                    } else {
                        state.add(sleeper, number)
                    }
                }
                if let early { continuation.resume(returning: early) }
            }
        } onCancel: {
            let sleeper = state.withLock { $0.remove(number) }
            sleeper?.continuation.resume(returning: .failure(CancellationError()))
        }
        try result.get()
    }

    func schedule(at due: Duration, _ action: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        let number = nextNumber()
        state.withLock { $0.alarms[number] = (due, action) }
        return { [weak self] in self?.state.withLock { $0.alarms[number] = nil } }
    }

    // MARK: - Requests under way

    /// Runs a server's work.
    func whileServing<Value: Sendable>(_ operation: () async -> Value) async -> Value {
        change { $0.busyCount += 1 }
        defer { change { $0.busyCount -= 1 } }
        return await Self.$isServing.withValue(true, operation: operation)
    }

    /// Records that a request waits for a silent server.
    ///
    /// - Parameter isServing: Whether the wait is part of a server's work.
    func beginSilence(isServing: Bool) {
        change { state in
            state.silentCount += 1
            if isServing { state.busyCount -= 1 }
        }
    }

    /// Records that the request no longer waits.
    func endSilence(isServing: Bool) {
        change { state in
            state.silentCount -= 1
            if isServing { state.busyCount += 1 }
        }
    }

    // MARK: - Moving

    private func nextNumber() -> Int {
        state.withLock { state in
            state.nextNumber += 1
            return state.nextNumber
        }
    }

    /// Changes the state, and moves the clock if nothing else can happen.
    private func change(_ change: (inout State) -> Void) {
        let (sleepers, alarms) = state.withLock { state in
            change(&state)
            return Self.skip(&state)
        }
        for sleeper in sleepers { sleeper.continuation.resume(returning: .success(())) }
        guard !alarms.isEmpty else { return }
        // The alarms run in sequence, so that the same one of two simultaneous timeouts always wins.
        Task {
            for alarm in alarms {
                alarm()
                // The alarm no longer counts as busy. If it has set another alarm instead of ending a wait, the clock
                // moves again.
                self.change { $0.busyCount -= 1 }
            }
        }
    }

    /// - Returns: The sleepers and actions that are due, in order.
    private static func skip(_ state: inout State) -> ([Sleeper], [Action]) {
        guard state.busyCount == 0 else { return ([], []) }
        let wait = state.sleepers.values.map(\.due).min()
        let limit = state.silentCount > 0 ? state.alarms.values.map(\.due).min() : nil
        guard let next = [wait, limit].compactMap({ $0 }).min() else { return ([], []) }
        let now = max(state.now, next)
        state.now = now
        let sleepers = state.sleepers.filter { $0.value.due <= now }.sorted {
            ($0.value.due, $0.key) < ($1.value.due, $1.key)
        }
        let alarms = state.alarms.filter { $0.value.due <= now }.sorted {
            ($0.value.due, $0.key) < ($1.value.due, $1.key)
        }
        for (number, _) in alarms { state.alarms[number] = nil }
        // The clock must not move before the alarms have run, because they change the number of waiting requests.
        state.busyCount += alarms.count
        return (sleepers.compactMap { state.remove($0.key) }, alarms.map(\.value.action))
    }
}
