// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

enum GitHubServer: String, ApiEnvironment {
    case production = "api.github.com"
    var scheme: HTTPScheme { .https }
}

enum GitHub: ApiRouter {
    typealias EnvironmentType = GitHubServer
    case zen
    case userProfile(String)

    var path: ApiPath {
        switch self {
        case .zen: "/zen"
        case .userProfile(let name): "/users/\(name)"
        }
    }
}

struct Profile: ApiModel {
    let login: String
}

enum ComingFromMoya {
    static func calls() async throws {
        let api = NetworkConnector<SystemProvider, GitHub>(environment: .production)
        let profile = try await api.value(Profile.self, at: .userProfile("ashfurrow"))
        let zen = try await api.data(at: .zen)
        let ashley = try await api.value(.profile(of: "ashfurrow"))
        _ = (profile, zen, ashley)
    }
}

extension ApiCall where Router == GitHub, Value == Profile {
    static func profile(of name: String) -> Self { Self(.userProfile(name)) }
}

struct Authorized<Wrapped: DataRequestType>: DataRequestType {
    let wrapped: Wrapped
    let token: @Sendable () async -> String

    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        var request = request
        let token = await token()
        request.setCredentials { $0.headers[.authorization] = "Bearer \(token)" }
        return try await wrapped.response(for: request)
    }
}

@Test func readsAProfile() async throws {
    typealias TestApi = NetworkConnector<TestConnector<ClosureResponses>, GitHub>
    let api = TestApi(environment: .production, provider: TestConnector { _ in .json(Profile(login: "ashfurrow")) })
    #expect(try await api.value(.profile(of: "ashfurrow")).login == "ashfurrow")
}
