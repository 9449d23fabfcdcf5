// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

enum SigningIn {
    enum Accounts: String, ApiRouter {
        typealias EnvironmentType = Server
        case token
        var method: HTTPMethod { .post }
    }

    struct Token: ApiModel {
        let token: String
        let expiry: Date
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
