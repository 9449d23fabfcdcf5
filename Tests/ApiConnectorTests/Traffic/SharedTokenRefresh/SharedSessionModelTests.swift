// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnectorTesting
import Testing

@testable import ApiConnector
@testable import ApiConnectorTraffic

/// Two instances with one refused token, over every order of their operations on the store, their waits and the server's
/// answers; one of them may die at any time.
///
/// `everyAnswerOrder` orders the first answer of each call. This model also orders the operations on the store, ends the
/// waits, and kills an instance, so it has its own scheduler. Both instances run the same program, so it is enough that
/// one of them can die.
@Suite(.timeLimit(.minutes(10))) struct SharedSessionModelTests {}

extension SharedSessionModelTests {
    /// The additional events of a run.
    enum Variant: CaseIterable {
        case nothing, death, renewals

        /// The number of decisions that are tried in every combination; after them, the tasks take turns.
        var depth: Int { self == .renewals ? 8 : 10 }
    }

    @Test(arguments: Variant.allCases) func oneTokenCausesOneRefresh(_ variant: Variant) async {
        var choices: [Choice] = []
        var runCount = 0
        var repeatCount = 0
        repeat {
            let world = SharedSessionWorld(choices, variant)
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
            // The token is used again only if a lease was over before its refresh was, or if its owner died between its
            // refresh and the storing of the session.
            let mayRepeat = outcome.wasLate || outcome.diedWithSession
            if outcome.used != [1], !(mayRepeat && outcome.used == [1, 1]) {
                Issue.record("the server got the tokens \(outcome.used): \(steps)")
                return
            }
            repeatCount += outcome.used.count - 1
        } while Choice.advance(&choices)
        #expect(runCount > 500)
        // The model reaches these cases. Without a death, no order of the other variants makes a lease end too early.
        #expect((repeatCount > 0) == (variant == .death))
    }

    @Test func oneRefusedTokenOfThreeConnectionsCausesOneRefreshInEveryOrderOfAnswers() async throws {
        let runCount = try await FaultTest.everyAnswerOrder { order in
            let clock = ManualClock()
            let memory = MemorySharedState(timeSource: clock)
            let server = RotatingServer()
            @Sendable func instance() -> SharedSession<SharedTokensOfTest> {
                SharedSession(
                    named: "a",
                    in: memory,
                    storage: .sealed(by: { $0 }, opened: { $0 }),
                    timeSource: clock
                )
            }
            try await instance().signIn(SharedTokensOfTest(refresh: 1))
            let successCount = Locked(0)
            // The server refuses the first access token, although its refresh token is valid.
            let backend = TestConnector { request in
                request.headers[.authorization] == "Bearer t2" ? .status(200) : .status(401)
            }
            @Sendable func call() async {
                let credentials = RefreshableCredentials(sharing: instance(), timeSource: clock) { tokens in
                    tokens.credential
                } refreshing: { old in
                    server.refresh(old)
                }
                let api = backend.answering(in: order).authenticating(by: credentials).connected(on: clock)
                if (try? await api.send(at: .me)) != nil { successCount.withLock { $0 += 1 } }
            }
            await order.run({ await call() }, { await call() }, { await call() })
            #expect(server.used == [1], "answered in the order \(order)")
            #expect(successCount.withLock { $0 } == 3, "answered in the order \(order)")
        }
        #expect(runCount == 6)
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
        /// The refresh tokens that the server got.
        var used: [Int]
        /// Whether a lease ended by itself during a refresh.
        var wasLate: Bool
        /// Whether an instance died after its refresh and before it had stored the session.
        var diedWithSession: Bool
        var dead: Int?
    }

    private struct Step {
        let instance: Int
        /// Whether the step belongs to the task that renews the lease.
        let isRenewal: Bool
        let name: String
        /// When a wait is over; nil for an operation.
        let time: Duration?
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var steps: [Step] = []
        var sessions: [SharedTokensOfTest?] = [nil, nil]
        /// The number of tasks that wait for the run, or soon will.
        var runningCount = 2
        /// The instances that have a lease, or are ending it.
        var leaseholders: Set<Int> = []
        var observer: CheckedContinuation<Void, Never>?
        var dead: Int?

        /// The run, if it waits and every task waits for it.
        mutating func observerAtStandstill() -> CheckedContinuation<Void, Never>? {
            steps.count == runningCount ? observer.take() : nil
        }
    }

    static let leaseDuration = Duration.milliseconds(400)

    private let clock = ManualClock()
    private let memory: MemorySharedState
    private let server = RotatingServer()
    private let state = Locked(State())
    private let given: [SharedSessionModelTests.Choice]
    private let variant: SharedSessionModelTests.Variant

    init(_ given: [SharedSessionModelTests.Choice], _ variant: SharedSessionModelTests.Variant) {
        memory = MemorySharedState(timeSource: clock)
        self.given = given
        self.variant = variant
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
        var leaseEnd: [Duration] = [.zero, .zero]
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
        var diedWithSession = false
        var turn = 0
        while await standstill() {
            let steps = state.withLock { $0.steps }
            // One that has ended, or has died before, has no step.
            let canDie = variant == .death && names.count >= 2 && steps.contains { $0.instance == 0 }
            let optionCount = steps.count + (canDie ? 1 : 0)
            var taken = turn % steps.count
            turn += 1
            if choices.count < variant.depth, optionCount > 1, names.count >= 2 {
                taken = choices.count < given.count ? given[choices.count].taken : 0
                choices.append(.init(taken: taken, count: optionCount))
            }
            if taken == steps.count {
                diedWithSession = steps.contains { $0.instance == 0 && $0.name == "replace" }
                names.append("0 dies")
                kill(0)
                continue
            }
            let step = steps[taken]
            names.append("\(step.instance) \(step.isRenewal ? "renewal " : "")\(step.name)")
            if let time = step.time, time > clock.now { clock.advance(by: time - clock.now) }
            let isOver = clock.now >= leaseEnd[step.instance]
            if isOver, step.name == "replace" || step.isRenewal { wasLate = true }
            if step.name == "acquire" || step.isRenewal { leaseEnd[step.instance] = clock.now + Self.leaseDuration }
            release(step)
        }
        for task in tasks { await task.value }
        return state.withLock { state in
            Outcome(
                choices: choices,
                steps: names,
                sessions: state.sessions,
                newest: server.current,
                used: server.used,
                wasLate: wasLate,
                diedWithSession: diedWithSession,
                dead: state.dead
            )
        }
    }

    /// Waits until the run goes on; false for an instance that died.
    func step(
        _ instance: Int,
        _ name: String,
        isRenewal: Bool = false,
        until time: Duration? = nil
    ) async -> Bool {
        await withCheckedContinuation { continuation in
            let (isOver, observer) = state.withLock { state in
                if state.dead == instance { return (true, nil as CheckedContinuation<Void, Never>?) }
                if isRenewal, Task.isCancelled {
                    state.runningCount -= 1
                    return (true, state.observerAtStandstill())
                }
                state.steps.append(
                    Step(instance: instance, isRenewal: isRenewal, name: name, time: time, continuation: continuation)
                )
                state.steps.sort { ($0.instance, $0.isRenewal ? 1 : 0) < ($1.instance, $1.isRenewal ? 1 : 0) }
                return (false, state.observerAtStandstill())
            }
            if isOver { continuation.resume(returning: false) }
            observer?.resume()
        }
    }

    /// Waits for the next renewal of a lease, in the task that renews it.
    ///
    /// The renewal itself belongs to the same step. It runs in a task that is not canceled, so the run would not see that
    /// the instance waits for it.
    func renewalStep(_ instance: Int, until time: Duration) async -> Bool {
        await withTaskCancellationHandler {
            await step(instance, "wait", isRenewal: true, until: time)
        } onCancel: {
            let (step, observer) = state.withLock { state in
                guard state.dead != instance, let step = state.steps.first(where: { $0.instance == instance }) else {
                    return (nil as Step?, nil as CheckedContinuation<Void, Never>?)
                }
                state.runningCount -= 1
                state.steps.removeAll { $0.instance == instance }
                return (step, state.observerAtStandstill())
            }
            step?.continuation.resume(returning: false)
            observer?.resume()
        }
    }

    /// Whether an instance has a lease, so that its waits and further requests for a lease belong to the renewal.
    func hasLease(_ instance: Int) -> Bool { state.withLock { $0.leaseholders.contains(instance) } }

    func beginLease(_ instance: Int) {
        state.withLock { state in
            state.leaseholders.insert(instance)
            if variant == .renewals, state.dead != instance { state.runningCount += 1 }
        }
    }

    func endLease(_ instance: Int) {
        state.withLock { _ = $0.leaseholders.remove(instance) }
    }

    var renewsLeases: Bool { variant == .renewals }

    func isDead(_ instance: Int) -> Bool { state.withLock { $0.dead == instance } }

    private func end(_ instance: Int) {
        let observer = state.withLock { state in
            if state.dead != instance { state.runningCount -= 1 }
            return state.observerAtStandstill()
        }
        observer?.resume()
    }

    private func release(_ step: Step) {
        state.withLock { state in
            state.steps.removeAll { $0.instance == step.instance && $0.isRenewal == step.isRenewal }
        }
        step.continuation.resume(returning: true)
    }

    private func kill(_ instance: Int) {
        let steps = state.withLock { state in
            state.dead = instance
            let steps = state.steps.filter { $0.instance == instance }
            state.runningCount -= steps.count
            state.steps.removeAll { $0.instance == instance }
            return steps
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
        if world.hasLease(instance) {
            return memory.acquireLease(of: key, owner: owner, for: duration, within: limit)
        }
        try await wait("acquire")
        let lease = memory.acquireLease(of: key, owner: owner, for: duration, within: limit)
        if lease != nil { world.beginLease(instance) }
        return lease
    }

    func endLease(_ lease: SharedLease, within limit: Duration) async throws(ApiConnectorError) {
        world.endLease(instance)
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

/// The clock as one instance sees it: its waits end when the run says so.
private struct SteppedTime: TimeSource {
    let world: SharedSessionWorld
    let clock: ManualClock
    let instance: Int

    var now: Duration { clock.now }
    var date: Date { clock.date }

    func sleep(until deadline: Duration) async throws {
        // A process that has died does not try again to store its session.
        if world.isDead(instance) { throw CancellationError() }
        let isRenewal = world.hasLease(instance)
        if isRenewal, !world.renewsLeases {
            let forever = Gate()
            try await forever.opened()
        }
        let isOver =
            isRenewal
            ? await world.renewalStep(instance, until: deadline)
            : await world.step(instance, "wait", until: deadline)
        if !isOver { throw CancellationError() }
    }
}
