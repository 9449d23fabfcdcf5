// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

// "Mocking Alamofire": an API class that holds a session is fed through `URLSessionConfiguration.protocolClasses`.
import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import Testing

/// The article's API class: it knows a session and nothing of this library.
private final class AuthenticationAPI: Sendable {
    private let session: URLSession

    init(session: URLSession = .shared) {
        self.session = session
    }

    func login(
        username: String,
        password: String,
        completion: @escaping @Sendable (Data?, HTTPURLResponse?, (any Error)?) -> Void
    ) {
        guard let url = URL(string: "https://example.com/login") else { return }
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = try? JSONEncoder().encode(["username": username, "password": password])
        session.dataTask(with: request) { completion($0, $1 as? HTTPURLResponse, $2) }.resume()
    }
}

/// The same answers that a `TestConnector` is named with.
private struct LoginResponses: ResponseProvider {
    func response(for request: ApiRequest) async throws -> TestConnectorResponse {
        let sent = try JSONDecoder().decode([String: String].self, from: try request.body.data())
        switch sent["username"] {
        case "ann": return .json(["token": "t"], headers: ["X-Session": "1"])
        case "eve": return .status(403)
        default: throw URLError(.notConnectedToInternet)
        }
    }
}

private struct LoginServer: ApiEnvironment {
    var host: String { "example.com" }
    var scheme: HTTPScheme { .https }
}

private enum LoginRouter: String, ApiRouter {
    typealias EnvironmentType = LoginServer
    case login

    var method: HTTPMethod { .post }
    var body: RequestBody { .json(["username": "ann", "password": "x"]) }
}

struct Seed001Tests {
    private func login(
        _ name: String,
        _ session: URLSession
    ) async -> (data: Data?, response: HTTPURLResponse?, error: (any Error)?) {
        await withCheckedContinuation { continuation in
            AuthenticationAPI(session: session).login(username: name, password: "x") {
                continuation.resume(returning: ($0, $1, $2))
            }
        }
    }

    @Test func statusHeadersAndBodyComeFromTheResponseProvider() async throws {
        let bridge = try SessionBridge(LoginResponses())
        let result = await login("ann", URLSession(configuration: bridge.configuration))
        #expect(result.error == nil)
        #expect(result.response?.statusCode == 200)
        #expect(result.response?.value(forHTTPHeaderField: "X-Session") == "1")
        #expect(try JSONDecoder().decode([String: String].self, from: try #require(result.data)) == ["token": "t"])
        #expect(await login("eve", bridge.session).response?.statusCode == 403)
    }

    @Test func aFailureIsTheErrorOfTheTask() async throws {
        let bridge = try SessionBridge(LoginResponses())
        let result = await login("nobody", bridge.session)
        #expect(result.response == nil)
        #expect((result.error as NSError?)?.domain == NSURLErrorDomain)
        #expect((result.error as NSError?)?.code == NSURLErrorNotConnectedToInternet)
    }

    @Test func theSameProviderAnswersAConnection() async throws {
        typealias TestConnection = NetworkConnector<TestConnector<LoginResponses>, LoginRouter>
        let token = try await TestConnection(environment: LoginServer()).value([String: String].self, at: .login)
        #expect(token == ["token": "t"])
    }

    @Test func aScriptSeesWhatTheSessionSent() async throws {
        let script = Script(for: LoginRouter.self, in: LoginServer())
        script.on(.login).answer(["token": "t"])
        #expect(await login("ann", try SessionBridge(script).session).response?.statusCode == 200)
        #expect(try script.requests.first?.json(as: [String: String].self)["username"] == "ann")
        #expect(await script.end().isEmpty)
    }
}
