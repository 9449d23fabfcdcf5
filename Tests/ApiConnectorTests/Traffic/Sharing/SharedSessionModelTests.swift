// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTesting
import Testing

@testable import ApiConnector
@testable import ApiConnectorTraffic

/// Two instances with one refused token, over every order of their operations on the store, their waits and the server's
/// answers; one of them may die at any time.
@Suite(.timeLimit(.minutes(10))) struct SharedSessionModelTests {
    /// Decisions that are tried in every combination; after them, the instances take turns.
    private static let depth = 10

    @Test(arguments: [false, true]) func oneTokenCausesOneRefresh(mayDie: Bool) async {
        var choices: [Choice] = []
        var runCount = 0
        repeat {
            let world = SharedSessionWorld(choices, depth: Self.depth, mayDie: mayDie)
            let outcome = await world.run()
            runCount += 1
            choices = outcome.choices
            let steps = outcome.steps.joined(separator: ", ")
            // Every instance that lives ends with the newest session.
            for (index, session) in outcome.sessions.enumerated() where index != outcome.dead {
                guard let session, session.refresh == outcome.newest else {
                    Issue.record("instance \(index) ended with \(session as Any) of \(outcome.newest): \(steps)")
                    return
                }
            }
            // A token is used again only if a lease was over before its refresh was, or its owner died.
            if outcome.refreshCount != 1, !outcome.wasLate, outcome.dead == nil {
                Issue.record("\(outcome.refreshCount) refreshes: \(steps)")
                return
            }
        } while Choice.advance(&choices)
        #expect(runCount > 500)
    }

    /// One decision between several options.
    struct Choice {
        var taken: Int
        let count: Int

        /// The next combination; false after the last one.
        static func advance(_ choices: inout [Choice]) -> Bool {
            while let last = choices.last {
                if last.taken + 1 < last.count {
                    choices[choices.count - 1].taken += 1
                    return true
                }
                choices.removeLast()
            }
            return false
        }
    }
}

/// One run: every step of an instance waits until the run lets it go on.
private final class SharedSessionWorld: Sendable {
    struct Outcome {
        var choices: [SharedSessionModelTests.Choice]
        var steps: [String]
        var sessions: [SharedTokensOfTest?]
        var newest: Int
        var refreshCount: Int
        /// Whether a lease ended by itself during a refresh.
        var wasLate: Bool
        var dead: Int?
    }

    private struct Step {
        let instance: Int
        let name: String
        /// When a wait is over; nil for an operation.
        let time: Duration?
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var steps: [Step] = []
        var sessions: [SharedTokensOfTest?] = [nil, nil]
        var runningCount = 2
        var observer: CheckedContinuation<Void, Never>?
        var dead: Int?
        var isOver = false
    }

    static let leaseDuration = Duration.milliseconds(400)

    private let clock = ManualClock()
    private let memory: MemorySharedState
    private let server = RotatingServer()
    private let state = Locked(State())
    private let given: [SharedSessionModelTests.Choice]
    private let depth: Int
    private let mayDie: Bool

    init(_ given: [SharedSessionModelTests.Choice], depth: Int, mayDie: Bool) {
        memory = MemorySharedState(timeSource: clock)
        self.given = given
        self.depth = depth
        self.mayDie = mayDie
    }

    func run() async -> Outcome {
        let policy = SharedSessionPolicy(
            leaseDuration: Self.leaseDuration,
            firstPollInterval: .milliseconds(100),
            longestPollInterval: .milliseconds(100)
        )
        let storage = SharedSessionStorage<SharedTokensOfTest>.sealed(by: { $0 }, opened: { $0 })
        let first = SharedTokensOfTest(refresh: 1)
        try? await SharedSession(named: "a", in: memory, storage: storage).signIn(first)
        var tasks: [Task<Void, Never>] = []
        var leaseStart: [Duration?] = [nil, nil]
        for index in 0..<2 {
            let shared = SharedSession(
                named: "a",
                in: SteppedState(world: self, memory: memory, instance: index),
                storage: storage,
                policy: policy,
                timeSource: SteppedTime(world: self, clock: clock, instance: index)
            )
            tasks.append(
                Task { [server] in
                    // The first one is the refused session, which both have.
                    for round in 0..<2 {
                        let session = try? await shared.refreshed { old in
                            guard await self.step(index, "refresh") else { throw CancellationError() }
                            return server.refresh(old)
                        }
                        if round == 1 { self.state.withLock { $0.sessions[index] = session } }
                    }
                    self.end(index)
                }
            )
        }
        var choices: [SharedSessionModelTests.Choice] = []
        var names: [String] = []
        var wasLate = false
        var turn = 0
        while await standstill() {
            let steps = state.withLock { $0.steps }
            // One that has ended, or has died before, has no step.
            let canDie = mayDie && names.count >= 2 && steps.contains { $0.instance == 0 }
            let optionCount = steps.count + (canDie ? 1 : 0)
            var taken = turn % steps.count
            turn += 1
            if choices.count < depth, optionCount > 1, names.count >= 2 {
                taken = choices.count < given.count ? given[choices.count].taken : 0
                choices.append(.init(taken: taken, count: optionCount))
            }
            if taken == steps.count {
                names.append("0 dies")
                kill(0)
                continue
            }
            let step = steps[taken]
            names.append("\(step.instance) \(step.name)")
            if step.name == "acquire" { leaseStart[step.instance] = clock.now }
            if step.name == "replace", let start = leaseStart[step.instance], clock.now - start >= Self.leaseDuration {
                wasLate = true
            }
            if let time = step.time, time > clock.now { clock.advance(by: time - clock.now) }
            release(step)
        }
        for task in tasks { await task.value }
        return state.withLock { state in
            Outcome(
                choices: choices,
                steps: names,
                sessions: state.sessions,
                newest: server.current,
                refreshCount: server.used.count,
                wasLate: wasLate,
                dead: state.dead
            )
        }
    }

    /// Waits until the run goes on; false for an instance that died.
    func step(_ instance: Int, _ name: String, until time: Duration? = nil) async -> Bool {
        await withCheckedContinuation { continuation in
            let (isDead, observer) = state.withLock { state in
                if state.dead == instance { return (true, nil as CheckedContinuation<Void, Never>?) }
                state.steps.append(Step(instance: instance, name: name, time: time, continuation: continuation))
                state.steps.sort { $0.instance < $1.instance }
                return (false, state.steps.count == state.runningCount ? state.observer.take() : nil)
            }
            if isDead { continuation.resume(returning: false) }
            observer?.resume()
        }
    }

    private func end(_ instance: Int) {
        let observer = state.withLock { state in
            if state.dead != instance { state.runningCount -= 1 }
            return state.steps.count == state.runningCount ? state.observer.take() : nil
        }
        observer?.resume()
    }

    private func release(_ step: Step) {
        state.withLock { state in state.steps.removeAll { $0.instance == step.instance } }
        step.continuation.resume(returning: true)
    }

    private func kill(_ instance: Int) {
        let steps = state.withLock { state in
            state.dead = instance
            state.runningCount -= 1
            defer { state.steps.removeAll { $0.instance == instance } }
            return state.steps.filter { $0.instance == instance }
        }
        for step in steps { step.continuation.resume(returning: false) }
    }

    /// Waits until every instance that lives waits for the run; false when all have ended.
    private func standstill() async -> Bool {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.steps.count == state.runningCount { return true }
                state.observer = continuation
                return false
            }
            if isThere { continuation.resume() }
        }
        return state.withLock { $0.runningCount > 0 }
    }
}

/// The store as one instance sees it.
private struct SteppedState: SharedState {
    let world: SharedSessionWorld
    let memory: MemorySharedState
    let instance: Int

    private func wait(_ name: String) async throws(ApiConnectorError) {
        guard await world.step(instance, name) else { throw ApiConnectorError(.cancelled, "the process has died") }
    }

    func record(for key: SharedStateKey, within limit: Duration) async throws(ApiConnectorError) -> SharedRecord {
        try await wait("read")
        return memory.record(for: key, within: limit)
    }

    func replaceRecord(
        with data: Data?,
        for key: SharedStateKey,
        ifVersion version: UInt64,
        lifetime: Duration?,
        within limit: Duration
    ) async throws(ApiConnectorError) -> UInt64? {
        try await wait("replace")
        return memory.replaceRecord(with: data, for: key, ifVersion: version, lifetime: lifetime, within: limit)
    }

    func acquireLease(
        of key: SharedStateKey,
        owner: String,
        for duration: Duration,
        within limit: Duration
    ) async throws(ApiConnectorError) -> SharedLease? {
        try await wait("acquire")
        return memory.acquireLease(of: key, owner: owner, for: duration, within: limit)
    }

    func endLease(_ lease: SharedLease, within limit: Duration) async throws(ApiConnectorError) {
        try await wait("end")
        memory.endLease(lease, within: limit)
    }

    func takeTokens(
        _ count: Int,
        of key: SharedStateKey,
        at rate: RequestRate,
        ahead horizon: Duration,
        within limit: Duration
    ) async throws(ApiConnectorError) -> SharedTokens {
        SharedTokens(readyCount: 0)
    }

    func takePlaces(
        _ wantedCount: Int,
        of totalCount: Int,
        for key: SharedStateKey,
        owner: String,
        using usedCount: Int,
        lasting duration: Duration,
        within limit: Duration
    ) async throws(ApiConnectorError) -> SharedPlaces {
        SharedPlaces(count: 0, isContended: false)
    }

    func holdTokens(
        of key: SharedStateKey,
        for duration: Duration,
        within limit: Duration
    ) async throws(ApiConnectorError) {}
}

/// The clock as one instance sees it: its waits end when the run says so, and its lease is never renewed.
private struct SteppedTime: TimeSource {
    let world: SharedSessionWorld
    let clock: ManualClock
    let instance: Int

    var now: Duration { clock.now }
    var date: Date { clock.date }

    func sleep(until deadline: Duration) async throws {
        // A third of the lease is no multiple of the wait between two looks at the store.
        if deadline.components.attoseconds % (100_000_000_000_000_000 as Int64) != 0 {
            let forever = Gate()
            try await forever.opened()
        }
        guard await world.step(instance, "wait", until: deadline) else { throw CancellationError() }
    }
}
