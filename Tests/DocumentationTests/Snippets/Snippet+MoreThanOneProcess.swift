// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import ApiConnectorTraffic
import Testing

enum MoreThanOneProcess {
    struct Tokens: Codable, Sendable {
        let access: String
        let refresh: String
        let expiry: Date
    }

    struct SignedOut: Error {}

    struct Keychain: Sendable {
        func save(_ tokens: Tokens, as name: String) throws {}
        func load(_ name: String) throws -> Tokens? { nil }
        func remove(_ name: String) throws {}
    }

    enum Login: ApiRouter {
        typealias EnvironmentType = Server
        case refresh(String)
        var path: ApiPath { "/token" }
    }

    static func sharesASession(
        in folder: URL,
        login: NetworkConnector<SystemProvider, Login>,
        seal: @escaping @Sendable (Data) throws -> Data,
        open: @escaping @Sendable (Data) throws -> Data
    ) throws {
        let shared = SharedSession<Tokens>(
            named: "accounts",
            in: try FolderSharedState(folder: folder),
            storage: .sealed(by: { try seal($0) }, opened: { try open($0) })
        )
        let session = RefreshableCredentials(sharing: shared) { tokens in
            .bearer(tokens.access, until: tokens.expiry)
        } refreshing: { tokens in
            guard let tokens else { throw SignedOut() }
            return try await login.value(at: .refresh(tokens.refresh))
        }
        let provider = SystemProvider().authenticating(by: session)
        _ = provider
    }

    static func keepsASessionElsewhere(_ keychain: Keychain) {
        let storage = SharedSessionStorage<Tokens>.external(
            save: { tokens, name in try keychain.save(tokens, as: name) },
            load: { name in try keychain.load(name) },
            remove: { name in try keychain.remove(name) }
        )
        _ = storage
    }

    static func sharesALimit(in state: any SharedState) {
        let limit = RequestLimit(rate: RequestRate(100, per: .seconds(1), burstCount: 20))
        let provider = SystemProvider().limiting(limit, sharedAs: SharedLimit(named: "search", in: state))
        _ = provider
    }

    static func sharesAConcurrencyLimit(in state: any SharedState) {
        let limit = RequestLimit(concurrent: 40)
        let provider = SystemProvider().limiting(limit, sharedAs: SharedLimit(named: "reports", in: state))
        _ = provider
    }

    static func sharesARetryBudget(in state: any SharedState) {
        let provider = SystemProvider().retrying(sharedAs: SharedLimit(named: "retries", in: state))
        _ = provider
    }

    static func sharesCircuits(in state: any SharedState) {
        let provider = SystemProvider().circuitBreaking(sharedAs: SharedCircuits(named: "orders", in: state))
        _ = provider
    }

    static func sharesACache(
        in state: any SharedState,
        secret: Data,
        seal: @escaping @Sendable (Data) throws -> Data,
        open: @escaping @Sendable (Data) throws -> Data
    ) {
        let storage = SharedCacheStorage(
            named: "products",
            in: state,
            digestKey: secret,
            sealedBy: { try seal($0) },
            openedBy: { try open($0) }
        )
        let provider = SystemProvider().caching(in: storage)
        _ = provider
    }

    @Test static func twoInstancesInATest() async throws {
        let clock = ManualClock()
        let state = MemorySharedState(timeSource: clock)
        func instance() -> SharedSession<Tokens> {
            SharedSession(named: "accounts", in: state, storage: .sealed(by: { $0 }, opened: { $0 }), timeSource: clock)
        }
        try await instance().signIn(Tokens(access: "a1", refresh: "r1", expiry: clock.date))
        let stored = try await instance().refreshed { $0 ?? Tokens(access: "", refresh: "", expiry: clock.date) }
        #expect(stored.access == "a1")
    }
}
