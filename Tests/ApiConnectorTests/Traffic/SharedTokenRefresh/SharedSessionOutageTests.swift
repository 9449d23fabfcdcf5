// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnectorTesting
import Testing

@testable import ApiConnector
@testable import ApiConnectorTraffic

/// Shared sessions while the shared state is unavailable.
@Suite(.timeLimit(.minutes(10))) struct SharedSessionOutageTests {
    private let clock = ManualClock()
    private let server = RotatingServer()
    private let recorder = EventRecorder()
    private let memory: MemorySharedState
    private let state: UnreliableState
    private let first = Tokens(refresh: 1)
    private let ownRefreshes = SharedSessionPolicy(refreshesWithoutState: true)
    private let event = "sharedStateUnavailable: sharedSession=a"

    init() {
        memory = MemorySharedState(timeSource: clock)
        state = UnreliableState(memory)
    }
}

extension SharedSessionOutageTests {
    private typealias Tokens = SharedTokensOfTest

    private func instance(_ policy: SharedSessionPolicy = SharedSessionPolicy()) -> SharedSession<Tokens> {
        let plain: @Sendable (Data) -> Data = { $0 }
        let storage = SharedSessionStorage<Tokens>.sealed(by: plain, opened: plain)
        return SharedSession(named: "a", in: state, storage: storage, policy: policy, timeSource: clock)
    }

    private func refreshed(_ instance: SharedSession<Tokens>) async throws -> Tokens {
        try await instance.refreshed { [server] old in server.refresh(old) }
    }

    /// A connection of an instance.
    private func connection(
        _ policy: SharedSessionPolicy = SharedSessionPolicy(),
        _ timeouts: Timeouts = Timeouts()
    ) -> NetworkConnector<AnyProvider, Router> {
        let credentials = RefreshableCredentials(sharing: instance(policy), timeSource: clock) { tokens in
            tokens.credential
        } refreshing: { [server] old in
            server.refresh(old)
        }
        return server.provider.authenticating(by: credentials).observing(by: recorder).connected(timeouts, on: clock)
    }

    @Test func afterAFailureTheStateIsNotAskedForATimeThatDoubles() async throws {
        try await instance().signIn(first)
        let instance = instance()
        #expect(try await refreshed(instance) == first)
        state.fail()
        var counts: [Int] = []
        for _ in 0..<8 {
            let count = state.count(of: .record)
            let error = await #expect(throws: ApiConnectorError.self) { try await refreshed(instance) }
            #expect(error?.kind == .sharedStateUnavailable)
            counts.append(state.count(of: .record) - count)
            clock.advance(by: .seconds(1))
        }
        #expect(counts == [1, 1, 0, 1, 0, 0, 0, 1])
        #expect(server.used == [])
        state.fail { _ in false }
        clock.advance(by: .seconds(8))
        #expect(try await refreshed(instance) == Tokens(refresh: 2))
    }

    @Test func afterASuccessTheNextFailureCountsAsTheFirst() async throws {
        try await instance().signIn(first)
        let instance = instance()
        #expect(try await refreshed(instance) == first)
        for number in 2...4 {
            state.fail()
            await #expect(throws: ApiConnectorError.self) { try await refreshed(instance) }
            state.fail { _ in false }
            clock.advance(by: .seconds(1))
            #expect(try await refreshed(instance) == Tokens(refresh: number))
        }
    }

    @Test func anInstanceThatRefreshesByItselfWaitsForAStoppedStateOnce() async throws {
        try await instance().signIn(first)
        let instance = instance(ownRefreshes)
        #expect(try await refreshed(instance) == first)
        let gate = Gate("the store")
        state.hang(at: gate)
        let count = state.count(of: .record)
        let task = Task { [server] in try await instance.refreshed { server.refresh($0) } }
        await eventually { state.count(of: .record) == count + 1 }
        gate.open()
        #expect(try await task.value == Tokens(refresh: 2))
        // The second refresh would wait here.
        state.hang(at: Gate("the store, again"))
        #expect(try await refreshed(instance) == Tokens(refresh: 3))
        #expect(state.count(of: .record) == count + 1)
    }

    @Test func theNewestSessionOfAnOutageIsStored() async throws {
        try await instance().signIn(first)
        let instance = instance(ownRefreshes)
        #expect(try await refreshed(instance) == first)
        state.fail()
        for number in 2...9 { #expect(try await refreshed(instance) == Tokens(refresh: number)) }
        state.fail { _ in false }
        await eventually { clock.sleeperCount == 8 }
        clock.advance(by: .seconds(1))
        let key = SharedStateKey("a", in: "ApiConnector")
        await eventually { memory.record(for: key, within: .zero).version == 2 }
        #expect(try await refreshed(self.instance()) == Tokens(refresh: 9))
        #expect(!server.isRevoked)
    }

    @Test func aCallWhoseRefreshFailsReportsAnEvent() async throws {
        state.fail()
        let error = await #expect(throws: ApiConnectorError.self) { try await connection().string(at: .me) }
        #expect(error?.kind == .credentialsUnavailable)
        #expect((error?.underlying as? ApiConnectorError)?.kind == .sharedStateUnavailable)
        #expect(recorder.texts.contains(event), "\(recorder.texts)")
    }

    @Test func aCallWhoseInstanceRefreshesByItselfReportsAnEvent() async throws {
        state.fail()
        #expect(try await connection(ownRefreshes).string(at: .me) == "welcome")
        #expect(server.used == [0])
        #expect(recorder.texts.contains(event), "\(recorder.texts)")
    }

    @Test func aCallWhoseSessionCannotBeStoredReportsAnEvent() async throws {
        state.fail { $0 == .replace }
        #expect(try await connection().string(at: .me) == "welcome")
        #expect(recorder.texts.contains(event), "\(recorder.texts)")
    }

    @Test func aCallDoesNotWaitForTheStateBeyondItsDeadline() async throws {
        try await instance().signIn(first)
        let gate = Gate("the store")
        state.hang(at: gate)
        let count = state.count(of: .record)
        let connection = connection(SharedSessionPolicy(), Timeouts(overall: .seconds(1)))
        let call = Task { try await connection.string(at: .me) }
        await eventually { state.count(of: .record) == count + 1 }
        clock.advance(by: .seconds(1))
        let error = await #expect(throws: ApiConnectorError.self) { try await call.value }
        #expect(error?.kind == .deadlineExceeded)
        gate.open()
    }
}
