// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnectorTesting
import Testing

@testable import ApiConnector
@testable import ApiConnectorTraffic

/// Several instances that share one session.
@Suite(.timeLimit(.minutes(10))) struct SharedSessionTests {
    private let clock = ManualClock()
    private let server = RotatingServer()
    private let memory: MemorySharedState
    private let state: UnreliableState
    private let first = Tokens(refresh: 1)
    /// The key of the session in the store.
    private let key = SharedStateKey("a", in: "ApiConnector")

    init() {
        memory = MemorySharedState(timeSource: clock)
        state = UnreliableState(memory)
    }
}

extension SharedSessionTests {
    private typealias Tokens = SharedTokensOfTest

    private func instance(_ policy: SharedSessionPolicy = SharedSessionPolicy()) -> SharedSession<Tokens> {
        let plain: @Sendable (Data) -> Data = { $0 }
        return SharedSession(
            named: "a",
            in: state,
            storage: .sealed(by: plain, opened: plain),
            policy: policy,
            timeSource: clock
        )
    }

    /// An instance that has used the first session, and was refused it.
    private func refusedInstance(
        _ policy: SharedSessionPolicy = SharedSessionPolicy()
    ) async throws -> SharedSession<Tokens> {
        let instance = instance(policy)
        #expect(try await refreshed(instance) == first)
        return instance
    }

    private func refreshed(_ instance: SharedSession<Tokens>) async throws -> Tokens {
        try await instance.refreshed { [server] old in server.refresh(old) }
    }

    @Test func anInstanceDoesNotReturnItsOwnSessionAgain() async throws {
        try await instance().signIn(first)
        let instance = instance()
        for number in 1...4 { #expect(try await refreshed(instance) == Tokens(refresh: number)) }
    }

    @Test func eightInstancesWithOneRefusedTokenSendOneRefresh() async throws {
        try await instance().signIn(first)
        var instances: [SharedSession<Tokens>] = []
        for _ in 0..<8 { instances.append(try await refusedInstance()) }
        try await expectOneRefresh(of: instances)
    }

    /// The server revokes everything if a refresh token is used twice.
    @Test func threeCallsOfOneInstanceSendOneRefresh() async throws {
        try await instance().signIn(first)
        let instance = try await refusedInstance()
        try await expectOneRefresh(of: [instance, instance, instance])
    }

    /// Refreshes with each of these instances at the same time.
    private func expectOneRefresh(of instances: [SharedSession<Tokens>]) async throws {
        let gate = Gate()
        let arrived = Gate()
        let tasks = instances.map { instance in
            Task { [server] in
                try await instance.refreshed { old in
                    arrived.open()
                    try await gate.opened()
                    return server.refresh(old)
                }
            }
        }
        try await arrived.opened()
        // The others wait for it.
        var waiting = 1
        while waiting < instances.count { waiting += try await clock.nextSleep() == .milliseconds(50) ? 1 : 0 }
        gate.open()
        while memory.record(for: key, within: .zero).version != 2 {
            await Task.yield()
        }
        clock.advance(by: .milliseconds(50))
        for task in tasks { #expect(try await task.value == Tokens(refresh: 2)) }
        #expect(server.used == [1])
    }

    @Test func aSignInDuringARefreshOfTheSameInstanceIsUsed() async throws {
        try await instance().signIn(first)
        let instance = try await refusedInstance()
        let other = Tokens(refresh: 7)
        let tokens = try await instance.refreshed { [server] old in
            try await instance.signIn(other)
            return server.refresh(old)
        }
        #expect(tokens == other)
        // The next refresh begins with the session of the sign-in.
        _ = try await refreshed(instance)
        #expect(server.used == [1, 7])
    }

    @Test func theLeaseOfACrashedProcessExpires() async throws {
        try await instance().signIn(first)
        let instance = try await refusedInstance()
        #expect(memory.acquireLease(of: key, owner: "dead", for: .seconds(15), within: .zero) != nil)
        // The renewal of the instance's own lease sleeps for 5 seconds.
        let (tokens, pauses) = try await clock.moving(for: { $0 <= .seconds(1) }) {
            try? await instance.refreshed { [server] old in server.refresh(old) }
        }
        #expect(tokens == Tokens(refresh: 2))
        let waits = pauses.reduce(Duration.zero, +)
        #expect(waits >= .seconds(15) && waits < .seconds(16), "\(pauses)")
        #expect(pauses.prefix(3) == [.milliseconds(50), .milliseconds(100), .milliseconds(200)])
        #expect(pauses.max() == .seconds(1))
    }

    @Test func aSlowRefreshKeepsItsLease() async throws {
        try await instance().signIn(first)
        let instance = try await refusedInstance()
        let gate = Gate()
        let task = Task { [server] in
            try await instance.refreshed { old in
                try await gate.opened()
                return server.refresh(old)
            }
        }
        try await clock.step(.seconds(5), .seconds(5), .seconds(5), .seconds(5))
        // The last renewal may still be running, so the one before it counts.
        #expect(memory.acquireLease(of: key, owner: "other", for: .seconds(15), within: .zero) == nil)
        gate.open()
        #expect(try await task.value == Tokens(refresh: 2))
        #expect(memory.acquireLease(of: key, owner: "other", for: .seconds(15), within: .zero) != nil)
        #expect(clock.sleeperCount == 0)
    }

    /// The program's own store hangs in a process that lives.
    @Test func aRefreshThatHangsKeepsItsLeaseForFiveMinutes() async throws {
        try await instance().signIn(first)
        let instance = try await refusedInstance()
        let gate = Gate("the storage")
        let task = Task { [server] in
            try await instance.refreshed { old in
                try await gate.opened()
                return server.refresh(old)
            }
        }
        for _ in 0..<60 { try await clock.step(.seconds(5)) }
        // Time to renew the lease too often.
        for _ in 0..<1000 where state.count(of: .acquire) == 60 { await Task.yield() }
        #expect(state.count(of: .acquire) == 60)
        // The last renewal was after 295 seconds.
        clock.advance(by: .seconds(10))
        #expect(memory.acquireLease(of: key, owner: "other", for: .seconds(15), within: .zero) != nil)
        gate.open()
        #expect(try await task.value == Tokens(refresh: 2))
        // The lease of the other process has not ended.
        #expect(memory.acquireLease(of: key, owner: "third", for: .seconds(15), within: .zero) == nil)
    }

    @Test func aRefreshThatHangsKeepsItsLeaseUntilItsTimeLimit() async throws {
        try await instance().signIn(Tokens(refresh: 1, expiry: clock.date))
        let gate = Gate("the server")
        let credentials = RefreshableCredentials(
            sharing: instance(),
            timeLimit: .seconds(12),
            timeSource: clock
        ) { tokens in
            tokens.credential
        } refreshing: { [server] old in
            // It ignores a cancellation.
            try await Task { try await gate.opened() }.value
            return server.refresh(old)
        }
        let connection = server.provider.authenticating(by: credentials).connected(on: clock)
        let call = Task { try await connection.string(at: .me) }
        for _ in 0..<3 { try await clock.step(.seconds(5)) }
        let error = await #expect(throws: ApiConnectorError.self) { try await call.value }
        #expect(error?.kind == .credentialsUnavailable)
        // Time to renew the lease too often.
        for _ in 0..<1000 where state.count(of: .acquire) == 3 { await Task.yield() }
        #expect(state.count(of: .acquire) == 3)
        // The last renewal was after 10 seconds.
        clock.advance(by: .seconds(10))
        #expect(memory.acquireLease(of: key, owner: "other", for: .seconds(15), within: .zero) != nil)
        gate.open()
    }

    @Test func aWaitForAnotherProcessDoesNotMakeTheRenewalsLonger() async throws {
        try await instance().signIn(first)
        let one = try await refusedInstance()
        #expect(memory.acquireLease(of: key, owner: "other", for: .seconds(8), within: .zero) != nil)
        let (arrived, gate) = (Gate(), Gate("the server"))
        let task = Task { [server] in
            try await one.refreshed(renewingFor: .seconds(12), where: { _ in true }) { old in
                arrived.open()
                try await gate.opened()
                return server.refresh(old)
            }
        }
        // It waits for the lease of the other process.
        _ = try await clock.nextSleep()
        clock.advance(by: .seconds(9))
        try await arrived.opened()
        let count = state.count(of: .acquire)
        try await clock.step(.seconds(5))
        // Time to renew the lease too often.
        for _ in 0..<1000 where state.count(of: .acquire) == count { await Task.yield() }
        #expect(state.count(of: .acquire) == count)
        gate.open()
        #expect(try await task.value == Tokens(refresh: 2))
    }

    @Test func theSessionThatWasStoredFirstIsUsed() async throws {
        try await instance().signIn(first)
        let instance = try await refusedInstance()
        let faster = Tokens(refresh: 7)
        let tokens = try await instance.refreshed { [server, state] old in
            // This process was suspended, its lease is over, and another one has stored a session.
            try await SharedSession(
                named: "a",
                in: state,
                storage: .sealed(by: { $0 }, opened: { $0 })
            ).signIn(faster)
            return server.refresh(old)
        }
        #expect(tokens == faster)
    }

    @Test func aSignInOfOneInstanceCountsForAll() async throws {
        let one = instance()
        let other = instance()
        try await one.signIn(first)
        #expect(try await refreshed(other) == first)
        try await one.signOut()
        #expect(try await refreshed(other) == Tokens(refresh: 2))
        #expect(server.used == [0])
    }

    @Test func aFailedRefreshEndsItsLeaseAtOnce() async throws {
        struct Failure: Error {}
        try await instance().signIn(first)
        let one = try await refusedInstance()
        let other = try await refusedInstance()
        await #expect(throws: Failure.self) { try await one.refreshed { _ in throw Failure() } }
        #expect(try await refreshed(other) == Tokens(refresh: 2))
        #expect(clock.sleeperCount == 0)
    }

    @Test func aCanceledRefreshEndsItsLeaseAtOnce() async throws {
        try await instance().signIn(first)
        let one = try await refusedInstance()
        let other = try await refusedInstance()
        let arrived = Gate()
        let task = Task {
            try await one.refreshed { _ in
                arrived.open()
                try await Gate().opened()
                return Tokens(refresh: 0)
            }
        }
        try await arrived.opened()
        task.cancel()
        _ = await task.result
        #expect(try await refreshed(other) == Tokens(refresh: 2))
    }

    @Test func aRefreshThatIsCanceledWhileItAcquiresItsLeaseEndsIt() async throws {
        try await instance().signIn(first)
        let one = try await refusedInstance()
        let (acquired, ended) = (state.count(of: .acquire), state.count(of: .end))
        let gate = Gate("the store")
        state.delayLeases(until: gate)
        let task = Task { [server] in
            try await one.refreshed { server.refresh($0) }
        }
        await eventually { state.count(of: .acquire) == acquired + 1 }
        task.cancel()
        gate.open()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(state.count(of: .end) == ended + 1)
        #expect(server.used.isEmpty)
    }

    @Test func aSessionIsStoredIfItsRefreshIsCanceledTooLate() async throws {
        try await instance().signIn(first)
        let one = try await refusedInstance()
        let task = Task { [server] in
            try await one.refreshed { old in
                // The server has answered, and the caller does not notice the cancellation.
                withUnsafeCurrentTask { $0?.cancel() }
                return server.refresh(old)
            }
        }
        _ = await task.result
        #expect(try await refreshed(instance()) == Tokens(refresh: 2))
        #expect(server.used == [1])
    }

    @Test func aCanceledRefreshDoesNotUndoASignOut() async throws {
        try await instance().signIn(first)
        let (one, other) = (try await refusedInstance(), instance())
        let task = Task { [server] in
            try await one.refreshed { old in
                withUnsafeCurrentTask { $0?.cancel() }
                try await Task { try await other.signOut() }.value
                return server.refresh(old)
            }
        }
        _ = await task.result
        // The instance tries again, and finds that the user has signed out.
        let count = state.count(of: .record)
        try await clock.step(.seconds(1))
        await eventually { state.count(of: .record) == count + 1 }
        for _ in 0..<100 { await Task.yield() }
        #expect(memory.record(for: key, within: .zero) == SharedRecord(version: 2, data: nil))
    }

    @Test func theLeaseThatReplacedALostOneIsEnded() async throws {
        try await instance().signIn(first)
        let instance = try await refusedInstance()
        let (arrived, gate) = (Gate(), Gate())
        let task = Task { [server] in
            try await instance.refreshed { old in
                arrived.open()
                try await gate.opened()
                return server.refresh(old)
            }
        }
        try await arrived.opened()
        state.lose()
        // In the new store, another process has already had the lease, so the renewed lease has another number.
        let lease = try #require(
            try await state.acquireLease(of: key, owner: "other", for: .seconds(15), within: .zero)
        )
        try await state.endLease(lease, within: .zero)
        let count = state.count(of: .acquire)
        try await clock.step(.seconds(5))
        // The renewal is over when the next one is scheduled.
        await eventually { state.count(of: .acquire) == count + 1 && clock.sleeperCount == 1 }
        gate.open()
        #expect(try await task.value == Tokens(refresh: 2))
        #expect(try await state.acquireLease(of: key, owner: "other", for: .seconds(15), within: .zero) != nil)
        // The new store has the session, although the record that the refresh began with is lost.
        #expect(try await refreshed(self.instance()) == Tokens(refresh: 2))
        #expect(server.used == [1])
    }

    @Test func aLeaseIsEndedAfterItsLastRenewal() async throws {
        try await instance().signIn(first)
        let instance = try await refusedInstance()
        let (arrived, refreshGate, renewalGate) = (Gate(), Gate(), Gate())
        let task = Task { [server] in
            try await instance.refreshed { old in
                arrived.open()
                try await refreshGate.opened()
                return server.refresh(old)
            }
        }
        try await arrived.opened()
        let count = state.count(of: .acquire)
        state.delayLeases(until: renewalGate)
        try await clock.step(.seconds(5))
        await eventually { state.count(of: .acquire) == count + 1 }
        refreshGate.open()
        await eventually { memory.record(for: key, within: .zero).version == 2 }
        // Time to end the lease too early.
        for _ in 0..<1000 where state.count(of: .end) == 0 { await Task.yield() }
        renewalGate.open()
        #expect(try await task.value == Tokens(refresh: 2))
        #expect(memory.acquireLease(of: key, owner: "other", for: .seconds(15), within: .zero) != nil)
    }

    @Test func withoutTheStoreARefreshFails() async throws {
        try await instance().signIn(first)
        let instance = try await refusedInstance()
        state.fail()
        let error = await #expect(throws: ApiConnectorError.self) {
            try await refreshed(instance)
        }
        #expect(error?.kind == .sharedStateUnavailable)
        #expect(server.used == [])
    }

    @Test func withoutTheStoreARefreshGoesAheadIfThePolicySaysSo() async throws {
        try await instance().signIn(first)
        // The session is not stored before the refresh below.
        let policy = SharedSessionPolicy(longestPollInterval: .seconds(60), refreshesWithoutState: true)
        let instance = try await refusedInstance(policy)
        state.fail()
        #expect(try await refreshed(instance) == Tokens(refresh: 2))
        #expect(try await refreshed(instance) == Tokens(refresh: 3))
        #expect(server.used == [1, 2])
        // Its own session replaces the old one when the store is back.
        state.fail { _ in false }
        clock.advance(by: .seconds(1))
        #expect(try await refreshed(instance) == Tokens(refresh: 4))
        #expect(try await refreshed(self.instance()) == Tokens(refresh: 4))
        #expect(!server.isRevoked)
    }

    @Test func aSessionThatCannotBeStoredIsStoredLater() async throws {
        try await instance().signIn(first)
        let one = try await refusedInstance()
        let other = try await refusedInstance()
        state.fail { $0 == .replace }
        #expect(try await refreshed(one) == Tokens(refresh: 2))
        try await clock.step(.seconds(1), .seconds(1))
        // The sign-in, the refresh, and two more.
        await eventually { state.count(of: .replace) == 4 }
        state.fail { _ in false }
        try await clock.step(.seconds(1))
        while memory.record(for: key, within: .zero).version != 2 { await Task.yield() }
        #expect(try await refreshed(other) == Tokens(refresh: 2))
        #expect(server.used == [1])
    }

    @Test func aSessionThatTheStoreHasLostIsRefreshed() async throws {
        try await instance().signIn(Tokens(refresh: 0))
        try await instance().signIn(first)
        let instance = try await refusedInstance()
        state.lose()
        #expect(try await refreshed(instance) == Tokens(refresh: 2))
        #expect(server.used == [1])
    }

    @Test func aSessionWhoseDataTheStoreHasLostIsRefreshed() async throws {
        try await instance().signIn(first)
        let instance = try await refusedInstance()
        state.evict()
        #expect(try await refreshed(instance) == Tokens(refresh: 2))
        #expect(server.used == [1])
        #expect(try await refreshed(self.instance()) == Tokens(refresh: 2))
    }

    private func refusal(_ status: HTTPStatus) throws -> ApiConnectorError {
        let request = ApiRequest(url: try #require(URL(string: "http://localhost/token")))
        let response = ApiResponse(to: request, status: status)
        return ApiConnectorError(.unacceptableStatus, "the token is refused", response: response, body: Data())
    }

    /// Another instance may have had a newer session, so only the server knows whether the token was used.
    @Test func aLostSessionThatTheServerRefusesIsSentOnce() async throws {
        try await instance().signIn(first)
        let (one, other) = (try await refusedInstance(), try await refusedInstance())
        #expect(try await refreshed(other) == Tokens(refresh: 2))
        state.lose()
        let sent = Locked<[Int?]>([])
        let refusal = try refusal(400)
        for _ in 0..<2 {
            let error = await #expect(throws: ApiConnectorError.self) {
                try await one.refreshed { old in
                    sent.withLock { $0.append(old?.refresh) }
                    throw refusal
                }
            }
            #expect(error?.kind == .unacceptableStatus)
        }
        #expect(sent.withLock { $0 } == [1, nil])
        // The instance that has the newest session stores the next one.
        #expect(try await refreshed(other) == Tokens(refresh: 3))
        #expect(try await refreshed(one) == Tokens(refresh: 3))
    }

    @Test func anInstanceWhoseLostSessionIsRefusedUsesASessionThatWasStoredMeanwhile() async throws {
        try await instance().signIn(Tokens(refresh: 0))
        try await instance().signIn(first)
        let one = try await refusedInstance()
        state.lose()
        let refusal = try refusal(401)
        let newest = Tokens(refresh: 9)
        let tokens = try await one.refreshed { [state] _ in
            let shared = SharedSession<Tokens>(named: "a", in: state, storage: .sealed(by: { $0 }, opened: { $0 }))
            try await shared.signIn(newest)
            throw refusal
        }
        #expect(tokens == newest)
    }

    @Test(arguments: [nil, 408, 429, 503] as [Int?])
    func aLostSessionIsSentAgainIfTheServerHasNotDecided(_ status: Int?) async throws {
        try await instance().signIn(first)
        let one = try await refusedInstance()
        state.lose()
        let error =
            try status.map { try refusal(HTTPStatus(rawValue: $0)) } ?? ApiConnectorError(.connectionLost, "lost")
        await #expect(throws: ApiConnectorError.self) { try await one.refreshed { _ in throw error } }
        #expect(try await refreshed(one) == Tokens(refresh: 2))
        #expect(server.used == [1])
    }

    @Test func aStoredSessionThatTheServerRefusesIsKept() async throws {
        try await instance().signIn(first)
        let one = try await refusedInstance()
        let refusal = try refusal(400)
        await #expect(throws: ApiConnectorError.self) { try await one.refreshed { _ in throw refusal } }
        #expect(try await refreshed(one) == Tokens(refresh: 2))
        #expect(server.used == [1])
    }

    @Test func theStoredSessionIsSealed() async throws {
        struct Damaged: Error {}
        let shared = SharedSession<Tokens>(
            named: "a",
            in: memory,
            storage: .sealed(by: { Data($0.map { $0 ^ 0x55 }) }, opened: { Data($0.map { $0 ^ 0x55 }) })
        )
        try await shared.signIn(first)
        let data = try #require(memory.record(for: key, within: .zero).data)
        #expect(!String(decoding: data, as: UTF8.self).contains("refresh"))
        let opened = try await shared.refreshed { old in old ?? Tokens(refresh: 0) }
        #expect(opened == first)
    }

    @Test func connectionsOfTwoInstancesSendOneRefresh() async throws {
        try await instance().signIn(first)
        var stored = first
        stored.expiry = clock.date.addingTimeInterval(10)
        try await instance().signIn(stored)
        func connection() -> NetworkConnector<AnyProvider, Router> {
            let credentials = RefreshableCredentials(sharing: instance(), timeSource: clock) { tokens in
                tokens.credential
            } refreshing: { [server] in
                server.refresh($0)
            }
            return server.provider.authenticating(by: credentials).connected(on: clock)
        }
        // The stored token is about to expire.
        #expect(try await connection().string(at: .me) == "welcome")
        #expect(try await connection().string(at: .me) == "welcome")
        #expect(server.used == [1])
    }
}
