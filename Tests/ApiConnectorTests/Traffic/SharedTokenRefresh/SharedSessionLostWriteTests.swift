// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTesting
import Testing

@testable import ApiConnector
@testable import ApiConnectorTraffic

/// Shared sessions over a store that loses its last writes, and has an older record again.
///
/// The server revokes everything if a refresh token is used twice.
@Suite(.timeLimit(.minutes(10))) struct SharedSessionLostWriteTests {
    private let clock = ManualClock()
    private let server = RotatingServer()
    private let state: UnreliableState
    private let key = SharedStateKey("a", in: "ApiConnector")
    private let first = Tokens(refresh: 1)

    init() {
        state = UnreliableState(MemorySharedState(timeSource: clock))
    }
}

extension SharedSessionLostWriteTests {
    private typealias Tokens = SharedTokensOfTest

    private func instance() -> SharedSession<Tokens> {
        let plain: @Sendable (Data) -> Data = { $0 }
        return SharedSession(
            named: "a",
            in: state,
            storage: .sealed(by: plain, opened: plain),
            timeSource: clock
        )
    }

    private func refreshed(_ instance: SharedSession<Tokens>) async throws -> Tokens {
        try await instance.refreshed { [server] old in server.refresh(old) }
    }

    /// An instance that has used the first session, and has then refreshed it until it had this one.
    private func instance(with last: Int) async throws -> SharedSession<Tokens> {
        try await instance().signIn(first)
        let instance = instance()
        for number in 1...last { #expect(try await refreshed(instance) == Tokens(refresh: number)) }
        return instance
    }

    @Test(arguments: [1, 2, 3]) func theSessionThatWasReplacedIsNotRefreshedAgain(_ count: Int) async throws {
        let instance = try await instance(with: 1 + count)
        state.rollBack(count, of: key)
        #expect(try await refreshed(instance) == Tokens(refresh: 2 + count))
        #expect(server.used == Array(1...(1 + count)))
        // The new session is stored for the others.
        #expect(try await refreshed(self.instance()) == Tokens(refresh: 2 + count))
    }

    @Test func anInstanceThatHasOnlyReadTheSessionsKeepsTheNewerOne() async throws {
        let writer = try await instance(with: 1)
        let reader = instance()
        #expect(try await refreshed(reader) == first)
        #expect(try await refreshed(writer) == Tokens(refresh: 2))
        #expect(try await refreshed(reader) == Tokens(refresh: 2))
        state.rollBack(of: key)
        #expect(try await refreshed(reader) == Tokens(refresh: 3))
        #expect(try await refreshed(writer) == Tokens(refresh: 3))
        #expect(server.used == [1, 2])
    }

    /// Refreshes the session of an instance, and changes the store before the server's answer.
    private func expectANewSession(
        of instance: SharedSession<Tokens>,
        ifMeanwhile change: @escaping @Sendable () -> Void
    ) async throws {
        let tokens = try await instance.refreshed { [server] old in
            change()
            return server.refresh(old)
        }
        #expect(tokens == Tokens(refresh: 3))
        #expect(try await refreshed(self.instance()) == Tokens(refresh: 3))
        #expect(server.used == [1, 2])
    }

    @Test func aWriteThatIsLostDuringARefreshDoesNotDiscardTheNewSession() async throws {
        let instance = try await instance(with: 2)
        try await expectANewSession(of: instance) { [state, key] in _ = state.rollBack(of: key) }
    }

    @Test func aWriteThatIsBackDuringARefreshDoesNotDiscardTheNewSession() async throws {
        let instance = try await instance(with: 2)
        let newest = state.rollBack(of: key)
        try await expectANewSession(of: instance) { [state] in state.restore(newest) }
    }

    @Test func aSessionThatCouldNotBeStoredIsStoredAfterALostWrite() async throws {
        let instance = try await instance(with: 2)
        state.fail { $0 == .replace }
        #expect(try await refreshed(instance) == Tokens(refresh: 3))
        state.fail { _ in false }
        state.rollBack(of: key)
        try await clock.step(.seconds(1))
        await eventually { state.count(of: .replace) == 4 }
        #expect(try await refreshed(self.instance()) == Tokens(refresh: 3))
        #expect(server.used == [1, 2])
    }

    @Test func aSessionThatCouldNotBeStoredIsStoredAfterTheStoreHasLostItsData() async throws {
        let instance = try await instance(with: 2)
        state.fail { $0 == .replace }
        #expect(try await refreshed(instance) == Tokens(refresh: 3))
        state.fail { _ in false }
        state.lose()
        try await clock.step(.seconds(1))
        await eventually { state.count(of: .replace) == 4 }
        #expect(try await refreshed(self.instance()) == Tokens(refresh: 3))
    }

    /// A sign-out leaves a version without data; a store that has lost its data has version 0.
    @Test func aSessionThatCouldNotBeStoredDoesNotUndoASignOutAfterALoss() async throws {
        let instance = try await instance(with: 2)
        state.fail { $0 == .replace }
        #expect(try await refreshed(instance) == Tokens(refresh: 3))
        state.fail { _ in false }
        state.lose()
        try await self.instance().signOut()
        let signedOut = try await state.record(for: key, within: .zero)
        #expect(signedOut.version > 0)
        let count = state.count(of: .record)
        try await clock.step(.seconds(1))
        await eventually { state.count(of: .record) == count + 1 }
        // Time to store the session.
        for _ in 0..<1000 { await Task.yield() }
        #expect(try await state.record(for: key, within: .zero) == signedOut)
        // The instance is signed out, too.
        _ = try await refreshed(instance)
        #expect(server.used == [1, 2, 0])
    }

    /// After one lost write, the sign-in gets the version of the lost record; after two, a lower one.
    @Test(arguments: [1, 2]) func aSignInAfterLostWritesIsUsed(_ count: Int) async throws {
        let instance = try await instance(with: 1 + count)
        state.rollBack(count, of: key)
        let other = Tokens(refresh: 70)
        try await self.instance().signIn(other)
        #expect(try await refreshed(instance) == other)
        #expect(try await refreshed(instance) == Tokens(refresh: 2 + count))
        #expect(server.used == Array(1...count) + [70])
    }

    @Test func aLostSessionThatTheServerRefusesIsNotFollowedByAnOlderOne() async throws {
        let one = try await instance(with: 2)
        let other = instance()
        #expect(try await refreshed(other) == Tokens(refresh: 2))
        #expect(try await refreshed(other) == Tokens(refresh: 3))
        state.rollBack(2, of: key)
        let request = ApiRequest(url: try #require(URL(string: "http://localhost/token")))
        let response = ApiResponse(to: request, status: 400)
        let refusal = ApiConnectorError(
            .unacceptableStatus,
            "the token is refused",
            response: response,
            body: Data()
        )
        let sent = Locked<[Int?]>([])
        for _ in 0..<3 {
            await #expect(throws: ApiConnectorError.self) {
                try await one.refreshed { old in
                    sent.withLock { $0.append(old?.refresh) }
                    throw refusal
                }
            }
        }
        #expect(sent.withLock { $0 } == [2, nil, nil])
    }

    @Test func aSignOutThatTheStoreLosesStaysASignOutForItsInstance() async throws {
        let instance = try await instance(with: 2)
        try await instance.signOut()
        state.rollBack(of: key)
        _ = try await refreshed(instance)
        #expect(server.used == [1, 0])
    }
}
