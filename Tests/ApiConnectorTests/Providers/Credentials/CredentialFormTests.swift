// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

/// How a credential is in a request.
struct CredentialFormTests {
    private func sent(
        _ credential: ApiCredential,
        _ request: ApiRequest? = nil
    ) async throws -> ApiRequest {
        let url = try #require(URL(string: "https://api.example.com/a?b=c#d"))
        let provider = TestConnector { _ in .status(200) }.authenticating(by: .fixed(credential), for: .origins(url))
        return try await provider.response(for: request ?? ApiRequest(url: url)).request
    }

    @Test func aTokenIsSentAsBearer() async throws {
        #expect(try await sent(.bearer("abc")).headers["Authorization"] == "Bearer abc")
    }

    @Test func aPasswordIsSentAsBasicInUTF8() async throws {
        let request = try await sent(.basic(user: "Aladdin", password: "open sésame:"))
        #expect(request.headers["Authorization"] == "Basic QWxhZGRpbjpvcGVuIHPDqXNhbWU6")
    }

    private struct RefusalLog: CredentialSource {
        let refusals = EventLog<String>()

        func credential(for request: ApiRequest) async throws(ApiConnectorError) -> ApiCredential? { .bearer("abc") }

        func refuse(_ credential: ApiCredential) { refusals.note("\(credential)") }
    }

    @Test(arguments: [nil, "Bearer mine"])
    func aRefusalOfTheCallersOwnFieldRefusesNoCredential(_ own: String?) async throws {
        let url = try #require(URL(string: "https://api.example.com/a"))
        let source = RefusalLog()
        let provider = TestConnector { _ in .status(401) }.authenticating(by: source, for: .origins(url))
        var request = ApiRequest(url: url)
        request.headers[.authorization] = own
        let response = try await provider.response(for: request)
        #expect(response.request.headers[.authorization] == own ?? "Bearer abc")
        #expect(source.refusals.events.isEmpty == (own != nil))
    }

    @Test func severalCredentialsAreSentTogether() async throws {
        let both = ApiCredential.all([.bearer("abc"), .apiKey("k", inHeader: "Shop"), .apiKey("q", inQuery: "key")])
        let request = try await sent(both)
        #expect(request.headers["Authorization"] == "Bearer abc")
        #expect(request.headers["Shop"] == "k")
        #expect(request.url.query() == "b=c&key=q")
        #expect(both.parts.count == 3)
        #expect(!both.description.contains("abc"))
        #expect(ApiCredential.bearer("a").parts.count == 1)
    }

    @Test func severalCredentialsExpireWithTheFirstOne() {
        let early = Date(timeIntervalSince1970: 1)
        var old = ApiCredential.bearer("a", until: early)
        old.version = 2
        var other = ApiCredential.bearer("b", until: Date(timeIntervalSince1970: 2))
        other.version = 3
        #expect(ApiCredential.all([other, old]).expiry == early)
        #expect(ApiCredential.all([other, old]).version == 5)
    }

    @Test func aKeyIsSentInAField() async throws {
        #expect(try await sent(.apiKey("abc")).headers["X-Api-Key"] == "abc")
        #expect(try await sent(.apiKey("abc", inHeader: "Shop")).headers["Shop"] == "abc")
    }

    @Test(
        arguments: [
            ("https://h/", "https://h/?k%20y=a%2Bb%26"),
            ("https://h/?", "https://h/?k%20y=a%2Bb%26"),
            ("https://h/?a=b", "https://h/?a=b&k%20y=a%2Bb%26"),
            ("https://h/p?a=b&#f?g", "https://h/p?a=b&k%20y=a%2Bb%26#f?g"),
            ("https://h/p#f", "https://h/p?k%20y=a%2Bb%26#f"),
            ("https://h/?k%20y=mine", "https://h/?k%20y=mine"),
            ("https://h/?k%20y", "https://h/?k%20y"),
        ]
    )
    func aKeyIsSentInTheQuery(before: String, after: String) async throws {
        let url = try #require(URL(string: before))
        let provider = TestConnector { _ in .status(200) }
            .authenticating(by: .fixed(.apiKey("a+b&", inQuery: "k y")), for: .origins(url))
        let response = try await provider.response(for: ApiRequest(url: url))
        #expect(response.request.url.absoluteString == after)
    }

    @Test(arguments: [
        (nil, "k=a"), ("b=c", "b=c; k=a"), ("kk=1; b=k=2", "kk=1; b=k=2; k=a"), ("b=c; k=mine", "b=c; k=mine"),
    ])
    func aKeyIsSentInACookie(before: String?, after: String) async throws {
        var request = ApiRequest(url: try #require(URL(string: "https://api.example.com/a")))
        request.headers[.cookie] = before
        #expect(try await sent(.apiKey("a", inCookie: "k"), request).headers.values(.cookie) == [after])
        #expect(ApiCredential.apiKey("hush", inCookie: "k").description == "Cookie: k=REDACTED")
    }

    @Test func aFieldThatTheCallHasSetIsNotReplaced() async throws {
        let clock = ManualClock()
        let session = RefreshableCredentials(.bearer("t1"), timeSource: clock) { _ in .bearer("t2") }
        let api = TestConnector { _ in .status(401) }.authenticating(by: session).connected(on: clock)
        let options = CallOptions(headers: [.authorization: "Bearer mine"], validation: .status(401))
        let response = try await api.response(at: .me, options: options)
        #expect(response.request.headers.values(.authorization) == ["Bearer mine"])
    }

    @Test func aSignerSeesTheBodyAsItIsSent() async throws {
        struct LengthSigner: RequestSigner {
            func sign(_ request: inout ApiRequest) async throws(ApiConnectorError) {
                let body = try await request.body.collect(upTo: 100)
                request.headers["X-Signature"] = "\(request.method) \(body.count)"
            }
        }
        let provider = TestConnector { _ in .status(200) }.authenticating(by: .fixed(.signature(by: LengthSigner())))
        let api = NetworkConnector(environment: .localhost, provider: provider, router: Signed.self)
        #expect(try await api.response(at: .json).request.headers["X-Signature"] == "POST 11")
        #expect(try await api.response(at: .file).request.headers["X-Signature"] == "POST 5")
    }

    private enum Signed: String, ApiRouter {
        typealias EnvironmentType = Environment
        case json, file
        var method: HTTPMethod { .post }
        var body: RequestBody {
            switch self {
            case .json: .json(["a": "b12"])
            case .file:
                .stream {
                    AsyncStream {
                        $0.yield(Data("hello".utf8)); $0.finish()
                    }
                }
            }
        }
    }

    @Test func aSignerThatFailsFailsTheCall() async throws {
        struct Broken: RequestSigner {
            func sign(_ request: inout ApiRequest) async throws(ApiConnectorError) {
                throw ApiConnectorError(.credentialsUnavailable, "the key is locked")
            }
        }
        let error = await #expect(throws: ApiConnectorError.self) { _ = try await sent(.signature(by: Broken())) }
        #expect(error?.kind == .credentialsUnavailable)
    }

    @Test func aCredentialPrintsWithoutItsSecret() {
        let credentials: [ApiCredential] = [
            .bearer("hush"), .basic(user: "hush", password: "hush"), .apiKey("hush", inHeader: "Shop"),
            .apiKey("hush", inQuery: "k"),
        ]
        #expect(
            credentials.map(\.description) == [
                "Authorization: Bearer REDACTED", "Authorization: Basic REDACTED", "Shop: REDACTED", "k=REDACTED",
            ]
        )
        for credential in credentials {
            var dumped = ""
            dump(credential, to: &dumped)
            #expect(!dumped.contains("hush") && !String(reflecting: credential).contains("hush"))
        }
    }

    @Test func aCredentialIsLookedUpForEachRequest() async throws {
        let provider = TestConnector { _ in .status(200) }.authenticating(
            by: ApiCredential.perRequest { request in request.routeName == "me" ? .bearer("mine") : nil }
        )
        let api = NetworkConnector(environment: .localhost, provider: provider, router: Router.self)
        #expect(try await api.response(at: .me).request.headers["Authorization"] == "Bearer mine")
        #expect(try await api.response(at: .auth).request.headers["Authorization"] == nil)
    }

    @Test func aFailedLookupFailsTheCall() async throws {
        struct Locked: Error {}
        let provider = TestConnector { _ in .status(200) }.authenticating(
            by: ApiCredential.perRequest { _ in throw Locked() }
        )
        let api = NetworkConnector(environment: .localhost, provider: provider, router: Router.self)
        let error = await #expect(throws: ApiConnectorError.self) { try await api.send(at: .me) }
        #expect(
            error?.description == "GET http://localhost/me failed (credentialsUnavailable): there is no credential: "
                + "Locked(). Sign in again."
        )
    }
}
