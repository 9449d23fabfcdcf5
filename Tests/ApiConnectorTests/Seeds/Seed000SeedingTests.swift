// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

// "Seed API Data for UI Test": a launch argument selects the seeded provider, and the answers come from the
// environment. A program that is launched so is tested in Examples.
import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import Testing

private struct User: Codable, Equatable {
    let userId: String
    var name: String

    static let sample = User(userId: "plokmijn", name: "shane wu")
}

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
        if case .updateUserInfo = self { .put } else { .get }
    }

    var body: RequestBody {
        if case .updateUserInfo(let user) = self { .json(user) } else { .empty }
    }
}

/// The article's `Configuration.manager`, in one line.
private struct Api: Sendable {
    let connection: NetworkConnector<AnyProvider, UserEndpoint>

    init(launchedWith arguments: [String], _ environment: [String: String]) throws {
        let provider = try LaunchSeed.provider(or: SystemProvider(), arguments: arguments, environment: environment)
        connection = NetworkConnector(environment: Place(), provider: provider)
    }
}

struct Seed000SeedingTests {
    private let script = Script(for: UserEndpoint.self, in: Place())

    @Test func theProgramAnswersFromTheTestsSeed() async throws {
        // By method too, and in the backend's envelope, both of which the article's URL as a key could not say.
        script.on(.getUserInfo(userId: "plokmijn")).answer(User.sample)
        script.on(.updateUserInfo(.sample)).answer(failure: CodedFailure(code: 7, message: "taken"))
        let seed = try LaunchSeed(script)
        let api = try Api(launchedWith: ["program"] + seed.arguments, seed.environment)

        #expect(try await api.connection.value(User.self, at: .getUserInfo(userId: "plokmijn")) == .sample)
        let outcome = await api.connection.outcome(User.self, at: .updateUserInfo(.sample))
        guard case .backendFailure(let failure, _) = outcome else {
            Issue.record("It came to \(outcome)")
            return
        }
        #expect(failure == CodedFailure(code: 7, message: "taken"))
        #expect(script.requests.map(\.method) == [.get, .put])
        #expect(await script.end().isEmpty)
    }

    @Test func theLaunchArgumentSelects() throws {
        #expect(throws: Never.self) { try Api(launchedWith: ["program"], [:]) }
        #expect(throws: FixtureError.self) { try Api(launchedWith: ["program", "--seeded"], [:]) }
    }

    @Test func aSeedThatCannotBeReadIsAClearErrorAtLaunch() throws {
        let environment = [LaunchSeed.variable: #"{"userId": "plokmijn"}"#]
        let error = try #require(throws: FixtureError.self) {
            try Api(launchedWith: ["program", "--seeded"], environment)
        }
        #expect(error.description == #"The launch seed is refused: it is not a seed: "{\"userId\": \"plokmijn\"}"."#)
    }
}
