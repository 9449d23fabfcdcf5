// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

extension ApiCall where Router == BackendRouter, Value == [Post] {
    fileprivate static func posts(about topic: String) -> Self { Self(.posts(topic)) }
}

extension ApiCall where Router == BackendRouter, Value == Void {
    fileprivate static var signOut: Self { Self(.signOut) }
}

private enum BackendRouter: ApiRouter {
    typealias EnvironmentType = Place
    typealias EnvelopeType = DataEnvelope<CodedFailure>
    case posts(String)
    case signOut

    var path: ApiPath {
        switch self {
        case .posts(let topic): "/posts/\(topic)"
        case .signOut: "/sign-out"
        }
    }
}

struct ApiCallTests {
    private let api = NetworkConnector(
        environment: Place(),
        provider: TestConnector { request in
            let posts = [Post(title: "\(request.method) \(request.url.path())", description: "")]
            return .json(["data": posts])
        },
        router: BackendRouter.self
    )

    @Test func namesItsValueWithoutAnAnnotation() async throws {
        let posts = try await api.value(.posts(about: "tea"))
        #expect(posts.map(\.title) == ["GET /posts/tea"])
    }

    @Test func worksInEveryFamilyOfCalls() async throws {
        let response = try await api.response(.posts(about: "tea"))
        #expect(response.status == 200)
        #expect(response.value.map(\.title) == ["GET /posts/tea"])

        let outcome = await api.outcome(.posts(about: "tea"))
        #expect(try outcome.get().map(\.title) == ["GET /posts/tea"])

        var titles: [[String]] = []
        for try await posts in api.stream(.posts(about: "tea")) { titles.append(posts.map(\.title)) }
        #expect(titles == [["GET /posts/tea"]])

        try await api.send(.signOut)
    }

    @Test func theRequestOfACallAtAURLIsTheOneThatIsSent() async throws {
        let url = try #require(URL(string: "http://other.example.com/page/2"))
        let request = try api.request(at: url, method: .post, body: .text("more"))
        #expect("\(request.method) \(request.url)" == "POST http://other.example.com/page/2")
        #expect(try request.body.data() == Data("more".utf8))
        #expect(request.isToOwnOrigin == false)
        #expect(try api.request(.posts(about: "tea")).url.path() == "/posts/tea")
    }

    @Test func takesTheOptionsOfACall() async throws {
        let options = CallOptions(validation: .status(418))
        let error = try await failure { () throws(ApiConnectorError) in
            try await api.value(.posts(about: "tea"), options: options)
        }
        #expect(error.kind == .unacceptableStatus)
    }
}
