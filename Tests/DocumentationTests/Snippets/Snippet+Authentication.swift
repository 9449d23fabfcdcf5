// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Synchronization
import Testing

enum Authentication {
    enum Accounts: String, ApiRouter {
        typealias EnvironmentType = Server
        case token
        var method: HTTPMethod { .post }
    }

    struct Token: ApiModel {
        let token: String
        let expiry: Date
    }

    enum Login: ApiRouter {
        typealias EnvironmentType = Server
        case password(user: String, String)
        case refresh(String)

        var path: ApiPath { "/oauth/token" }
        var method: HTTPMethod { .post }

        var body: RequestBody {
            switch self {
            case .password(let user, let password):
                .form(["grant_type": "password", "username": user, "password": password])
            case .refresh(let token):
                .form(["grant_type": "refresh_token", "refresh_token": token])
            }
        }
    }

    struct SignedOut: Error {}

    final class TokenStore: Sendable {
        private let kept = Mutex<Account.Tokens?>(nil)

        var tokens: Account.Tokens? {
            get { kept.withLock { $0 } }
            set { kept.withLock { $0 = newValue } }
        }
    }

    final class Account: Sendable {
        struct Tokens: ApiModel {
            let access: String
            let refresh: String
            let expiry: Date

            var credential: ApiCredential { .bearer(access, until: expiry) }
        }

        let session: RefreshableCredentials
        private let login: NetworkConnector<AnyProvider, Login>
        private let newest: TokenStore

        init(login: NetworkConnector<AnyProvider, Login>, store: TokenStore) {
            self.login = login
            newest = store
            session = RefreshableCredentials(store.tokens?.credential) { _ in
                guard let refresh = store.tokens?.refresh else { throw SignedOut() }
                let new: Tokens = try await login.value(at: .refresh(refresh))
                store.tokens = new
                return new.credential
            }
        }

        func signIn(user: String, password: String) async throws {
            let new: Tokens = try await login.value(at: .password(user: user, password))
            newest.tokens = new
            session.signIn(new.credential)
        }

        func signOut() {
            newest.tokens = nil
            session.signOut()
        }
    }

    struct BodySigner: RequestSigner {
        let sign: @Sendable (Data) -> String

        func sign(_ request: inout ApiRequest) async throws(ApiConnectorError) {
            let body = try await request.body.collect(upTo: 1 << 20)
            request.headers["X-Signature"] = sign(body)
        }
    }

    static func kinds(key: String, adminToken: String, hmac: @escaping @Sendable (Data) -> String, cdn: URL) {
        let bearer = SystemProvider().authenticating(by: .fixed(.bearer("a token")))
        let basic = SystemProvider().authenticating(by: .fixed(.basic(user: "ada", password: "…")))
        let field = SystemProvider().authenticating(by: .fixed(.apiKey(key, inHeader: "X-Api-Key")))
        let item = SystemProvider().authenticating(by: .fixed(.apiKey(key, inQuery: "key")))
        let signed = SystemProvider().authenticating(by: .fixed(.signature(by: BodySigner(sign: hmac))))
        let some = SystemProvider().authenticating(
            by: ApiCredential.perRequest { request in request.routeName == "admin" ? .bearer(adminToken) : nil }
        )
        let both = SystemProvider().authenticating(by: .fixed(.apiKey(key)), for: .connection(and: cdn))
        _ = (bearer, basic, field, item, signed, some, both)
    }

    static func session(stored: Token?) {
        let accounts = NetworkConnector<SystemProvider, Accounts>(environment: .production)
        let session = RefreshableCredentials(stored.map { .bearer($0.token, until: $0.expiry) }) { _ in
            let new = try await accounts.value(Token.self, at: .token)
            return .bearer(new.token, until: new.expiry)
        }
        let api = NetworkConnector(
            environment: .production,
            provider: SystemProvider().authenticating(by: session),
            router: Blog.self
        )
        _ = api
    }

    static func end(_ session: RefreshableCredentials, new: Token) {
        session.signOut()
        session.signIn(.bearer(new.token, until: new.expiry))
    }

    @Test static func aNewRefreshTokenReplacesTheOldOne() async throws {
        let script = Script(for: Login.self, in: .production)
        let expiry = Date(timeIntervalSinceNow: 3600)
        script.on(.password(user: "ada", "secret"))
            .answer(Account.Tokens(access: "a1", refresh: "r1", expiry: expiry))
        script.on(.refresh("r1")).answer(Account.Tokens(access: "a2", refresh: "r2", expiry: expiry))
        script.on(.refresh("r2")).answer(Account.Tokens(access: "a3", refresh: "r3", expiry: expiry))
        let login = NetworkConnector(
            environment: .production,
            provider: AnyProvider(TestConnector(script)),
            router: Login.self
        )
        let account = Account(login: login, store: TokenStore())
        let tokens = Mutex<[String]>([])
        let provider = TestConnector { request in
            let token = request.headers[.authorization] ?? ""
            let count = tokens.withLock { tokens in
                tokens.append(token)
                return tokens.count
            }
            return .status(count < 3 ? 401 : 204)
        }
        let api = NetworkConnector(
            environment: .production,
            provider: provider.authenticating(by: account.session),
            router: Blog.self
        )
        try await account.signIn(user: "ada", password: "secret")
        _ = try? await api.send(at: .me)
        try await api.send(at: .me)
        #expect(tokens.withLock { $0 } == ["Bearer a1", "Bearer a2", "Bearer a2"])
        account.signOut()
        await #expect(throws: ApiConnectorError.self) { try await api.send(at: .me) }
    }

    @Test static func refreshesAheadOfTheExpiry() async throws {
        let clock = ManualClock()
        let old = ApiCredential.bearer("old", until: clock.date.addingTimeInterval(60))
        let session = RefreshableCredentials(old, timeSource: clock) { _ in .bearer("new") }
        let provider = TestConnector { request in .data(Data((request.headers["Authorization"] ?? "").utf8)) }
        let api = NetworkConnector(
            environment: .localhost,
            provider: provider.authenticating(by: session),
            router: Blog.self
        )

        #expect(try await api.data(at: .me) == Data("Bearer old".utf8))
        clock.advance(by: .seconds(31))
        #expect(try await api.data(at: .me) == Data("Bearer new".utf8))
    }
}
