// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

// The client of "Simple iOS API client with Alamofire", as it is written with this library.
import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import Testing

private struct User: Codable, Equatable {
    let userId: String
    var name: String
    var email: String
    var description: String?

    static let sample = User(userId: "7", name: "Ann", email: "ann@example.com", description: nil)
}

/// One endpoint with two methods.
private enum UserEndpoint: ApiRouter {
    typealias EnvironmentType = Place
    typealias EnvelopeType = DataEnvelope<CodedFailure>

    case getUserInfo(userId: String)
    case updateUserInfo(User)

    var path: ApiPath {
        switch self {
        case .getUserInfo(let userId): "/user/\(userId)"
        case .updateUserInfo(let user): "/user/\(user.userId)"
        }
    }

    var method: HTTPMethod {
        switch self {
        case .getUserInfo: .get
        case .updateUserInfo: .put
        }
    }

    var body: RequestBody {
        switch self {
        case .getUserInfo: .empty
        case .updateUserInfo(let user): .json(user)
        }
    }
}

/// The article's API class: completion handlers with a result, and a provider that a test swaps.
private struct Api<Provider: DataRequestType>: ApiConnectionType {
    typealias RouterType = UserEndpoint

    let environment: Place
    let provider: Provider
    let configuration = ConnectionConfiguration(
        headers: ["Accept": "application/json", "X-Client": "1"],
        timeouts: .unlimited
    )

    @discardableResult
    func getUserInfo(
        _ userId: String,
        completion: @escaping @Sendable (Result<User, ApiConnectorError>) -> Void
    ) -> CallHandle {
        start(on: .main, { try await $0.value(at: .getUserInfo(userId: userId)) }, completion: completion)
    }

    func updateUserInfo(_ user: User, headers: HTTPHeaders = HTTPHeaders()) async throws(ApiConnectorError) -> User {
        try await value(at: .updateUserInfo(user), options: CallOptions(headers: headers))
    }
}

struct Seed000Tests {
    private static func answer(_ request: SeenRequest) -> LoopbackResponse {
        guard request.target == "/user/7" else {
            return .json(#"{"error":{"code":404,"message":"no such user"}}"#)
        }
        guard request.method == "PUT" else {
            return .json(#"{"data":{"userId":"7","name":"Ann","email":"ann@example.com"}}"#)
        }
        return .json(#"{"data":\#(String(decoding: request.body, as: UTF8.self))}"#)
    }

    private func api(_ wire: Wire) throws -> (api: Api<AnyProvider>, web: ScriptedWeb) {
        let web = try ScriptedWeb(over: wire, Self.answer)
        return (Api(environment: web.place, provider: web.provider), web)
    }

    @Test(arguments: Wire.allCases)
    func oneEndpointHasTwoMethods(_ wire: Wire) async throws {
        let (api, web) = try api(wire)
        #expect(try await api.value(User.self, at: .getUserInfo(userId: "7")) == .sample)
        #expect(try await api.updateUserInfo(.sample) == .sample)
        #expect(web.requests.map { "\($0.method) \($0.target)" } == ["GET /user/7", "PUT /user/7"])
    }

    @Test(arguments: Wire.allCases)
    func headersOfACallReplaceTheCommonOnes(_ wire: Wire) async throws {
        let (api, web) = try api(wire)
        _ = try await api.updateUserInfo(.sample, headers: ["x-client": "2", "X-Trace": "3"])
        let request = try #require(web.requests.first)
        #expect(request.header("Accept") == "application/json")
        #expect(request.headers.filter { $0.name.lowercased() == "x-client" }.map(\.value) == ["2"])
        #expect(request.header("X-Trace") == "3")
    }

    @Test(arguments: Wire.allCases)
    func parametersAreSentAsJSON(_ wire: Wire) async throws {
        let (api, web) = try api(wire)
        _ = try await api.updateUserInfo(.sample)
        let request = try #require(web.requests.first)
        #expect(request.header("Content-Type") == "application/json")
        #expect(try JSONDecoder().decode(User.self, from: request.body) == .sample)
    }

    @Test(arguments: Wire.allCases)
    func anErrorInA200IsAnError(_ wire: Wire) async throws {
        let (api, web) = try api(wire)
        let result = await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<User, ApiConnectorError>, Never>) in
            api.getUserInfo("8") { continuation.resume(returning: $0) }
        }
        let error = try #require(throws: ApiConnectorError.self) { try result.get() }
        #expect(error.kind == .backendFailure)
        #expect(error.failure() == CodedFailure(code: 404, message: "no such user"))
        #expect(web.requests.map(\.target) == ["/user/8"])
    }

    @Test func theResultOfTheCompletionHandlerIsUnwrappedByGet() async throws {
        let api = try api(.testConnector).api
        let result = await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<User, ApiConnectorError>, Never>) in
            api.getUserInfo("7") { continuation.resume(returning: $0) }
        }
        #expect(try result.get() == .sample)
    }

    @Test func aMockThatFailsGivesItsError() async throws {
        let api = Api(environment: Place(), provider: TestConnector { _ in throw URLError(.networkConnectionLost) })
        let error = try await failure { () throws(ApiConnectorError) in try await api.updateUserInfo(.sample) }
        #expect(error.kind == .connectionLost)
        #expect((error.underlying as? URLError)?.code == .networkConnectionLost)
    }
}
