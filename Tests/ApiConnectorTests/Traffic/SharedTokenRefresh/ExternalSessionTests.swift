// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTesting
import Testing

@testable import ApiConnector
@testable import ApiConnectorTraffic

/// Sessions in the program's own store, such as a keychain.
@Suite(.timeLimit(.minutes(10))) struct ExternalSessionTests {
    private let clock = ManualClock()
    private let server = RotatingServer()
    private let keychain = Keychain()
    private let memory: MemorySharedState
    private let state: UnreliableState
    private let key = SharedStateKey("a", in: "ApiConnector")
    private let first = Tokens(refresh: 1)
    private let faster = Tokens(refresh: 7)

    init() {
        memory = MemorySharedState(timeSource: clock)
        state = UnreliableState(memory)
    }
}

extension ExternalSessionTests {
    private typealias Tokens = SharedTokensOfTest

    /// The program's own store.
    private final class Keychain: Sendable {
        private let items = Locked<[String: Tokens]>([:])
        private let hook = Locked<(@Sendable () async throws -> Void)?>(nil)
        private let isLocked = Locked(false)

        struct LockedError: Error {}

        /// Makes `save` fail.
        func lock(_ isLocked: Bool) {
            self.isLocked.withLock { $0 = isLocked }
        }

        var all: [Tokens] { items.withLock { Array($0.values) } }

        /// Calls a function before the next session is loaded.
        func beforeNextLoad(_ hook: @escaping @Sendable () async throws -> Void) {
            self.hook.withLock { $0 = hook }
        }

        var storage: SharedSessionStorage<Tokens> {
            .external(
                save: { [self] tokens, name in
                    if isLocked.withLock({ $0 }) { throw LockedError() }
                    items.withLock { $0[name] = tokens }
                },
                load: { [self] name in
                    try await hook.withLock { $0.take() }?()
                    return items.withLock { $0[name] }
                },
                remove: { [self] name in items.withLock { $0[name] = nil } }
            )
        }
    }

    private func instance() -> SharedSession<Tokens> {
        SharedSession(named: "a", in: state, storage: keychain.storage, timeSource: clock)
    }

    private func refreshed(_ instance: SharedSession<Tokens>) async throws -> Tokens {
        try await instance.refreshed { [server] old in server.refresh(old) }
    }

    /// An instance that has used the first session.
    private func signedInInstance() async throws -> SharedSession<Tokens> {
        try await instance().signIn(first)
        let instance = instance()
        #expect(try await refreshed(instance) == first)
        return instance
    }

    @Test func theSharedStateHasNoToken() async throws {
        let instance = try await signedInInstance()
        let data = try #require(memory.record(for: key, within: .zero).data)
        #expect(UUID(uuidString: String(decoding: data, as: UTF8.self)) != nil)
        #expect(try await refreshed(instance) == Tokens(refresh: 2))
        #expect(keychain.all == [Tokens(refresh: 2)])
        try await instance.signOut()
        #expect(keychain.all == [])
    }

    @Test func aProcessWhoseLeaseIsOverCannotOverwriteTheSession() async throws {
        let instance = try await signedInInstance()
        let other = self.instance()
        let tokens = try await instance.refreshed { [server, faster] old in
            // This process was suspended, its lease is over, and another one has stored a session.
            try await other.signIn(faster)
            return server.refresh(old)
        }
        #expect(tokens == faster)
        #expect(try await refreshed(self.instance()) == faster)
        #expect(keychain.all == [faster])
    }

    @Test func aSessionThatAnotherProcessReplacesBeforeItIsLoadedIsNotASignOut() async throws {
        let instance = try await signedInInstance()
        let other = self.instance()
        keychain.beforeNextLoad { [faster] in try await other.signIn(faster) }
        #expect(try await refreshed(instance) == faster)
        #expect(server.used == [])
    }

    @Test func aSessionIsKeptIfTheReplyThatItWasStoredIsLost() async throws {
        let instance = try await signedInInstance()
        state.loseReplies(true)
        #expect(try await refreshed(instance) == Tokens(refresh: 2))
        state.loseReplies(false)
        try await clock.step(.seconds(1))
        // The instance finds its own session, and removes the old one.
        await eventually { keychain.all == [Tokens(refresh: 2)] }
        #expect(try await refreshed(self.instance()) == Tokens(refresh: 2))
        #expect(server.used == [1])
    }

    @Test func aSessionThatCannotBeSavedIsSavedLater() async throws {
        let instance = try await signedInInstance()
        keychain.lock(true)
        #expect(try await refreshed(instance) == Tokens(refresh: 2))
        #expect(keychain.all == [first])
        keychain.lock(false)
        try await clock.step(.seconds(1))
        await eventually { keychain.all == [Tokens(refresh: 2)] }
        #expect(try await refreshed(self.instance()) == Tokens(refresh: 2))
        #expect(server.used == [1])
    }

    @Test func aSessionThatCannotBeSavedIsNotSavedAfterASignOut() async throws {
        let instance = try await signedInInstance()
        keychain.lock(true)
        #expect(try await refreshed(instance) == Tokens(refresh: 2))
        keychain.lock(false)
        try await self.instance().signOut()
        let count = state.count(of: .record)
        try await clock.step(.seconds(1))
        await eventually { state.count(of: .record) == count + 1 }
        for _ in 0..<100 { await Task.yield() }
        #expect(keychain.all == [])
        #expect(memory.record(for: key, within: .zero).data == nil)
    }

    @Test func aSessionThatCannotBeStoredDoesNotStay() async throws {
        let instance = try await signedInInstance()
        state.fail { $0 == .replace }
        #expect(try await refreshed(instance) == Tokens(refresh: 2))
        state.fail { _ in false }
        try await self.instance().signIn(faster)
        try await clock.step(.seconds(1))
        await eventually { keychain.all == [faster] }
        clock.advance(by: .seconds(1))
        #expect(try await refreshed(instance) == faster)
    }

    @Test func aSessionThatTheSharedStateHasLostIsRemovedAfterTheNextRefresh() async throws {
        let instance = try await signedInInstance()
        state.lose()
        #expect(try await refreshed(instance) == Tokens(refresh: 2))
        #expect(keychain.all == [Tokens(refresh: 2)])
    }
}
