// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

/// Tests of how parameters, media types and several credentials are sent.
struct ParameterTests {
    private func connection<Router: ApiRouter>(
        _ router: Router.Type
    ) -> NetworkConnector<TestConnector<ClosureResponses>, Router> where Router.EnvironmentType == ConstructsServer {
        NetworkConnector(environment: .production, provider: TestConnector { _ in .json(["ok": true]) })
    }

    private static let locals = Locals(object: "", decoder: "", encoder: "", form: "", allCases2: "")

    @Test func theDelimiterOfAListIsNotEncodedAndItsItemsAre() throws {
        let pets = connection(PetsRouter.self)
        let url = try pets.request(.list(ids: [1, 2], spaced: ["a b", "c"], piped: ["d|e", "f"])).url.absoluteString
        #expect(url == "https://api.example.com/v1/pets?ids=1,2&spaced=a%20b%20c&piped=d%7Ce%7Cf")
        let empty = try pets.request(.list(ids: [], spaced: [])).url.absoluteString
        #expect(empty == "https://api.example.com/v1/pets")
    }

    @Test func parametersWithContentAreJSON() throws {
        let others = connection(ConstructsRouter.self)
        let put = try others.request(.putLocals(body: Self.locals, xMeta: PutLocalsXMeta(a: 1)))
        #expect(put.headers["X-Meta"] == #"{"a":1}"#)
        let search = try others.request(.search(filter: SearchFilter(aB: 1))).url.absoluteString
        #expect(search == "https://api.example.com/v1/search?version=2&%7B%22a%20b%22%3A1%7D")
        let picture = try others.request(at: .putPicture(name: [1, 2], file: .data(Data())))
        #expect(picture.url.absoluteString == "https://api.example.com/v1/picture%20of/%5B1%2C2%5D")
    }

    @Test func cookiesAreExplodedAndCannotHoldMoreThanOneValue() throws {
        let others = connection(ConstructsRouter.self)
        let put = try others.request(.putLocals(body: Self.locals, theme: ["a;b", "c"], order: ["d,e", "f"]))
        #expect(put.headers[.cookie] == "theme=a%3Bb; theme=c; order=d%2Ce,f")
    }

    @Test func aBodyOfBytesHasTheDocumentsType() throws {
        let request = try connection(ConstructsRouter.self).request(at: .putPicture(name: [1], file: .data(Data([1]))))
        #expect(request.headers[.contentType] == "image/png")
        #expect(request.headers[.accept] == "image/png, image/jpeg")
    }

    @Test func anEmptyListIsNoSegmentOfAPath() {
        let others = connection(ConstructsRouter.self)
        let error = #expect(throws: ApiConnectorError.self) {
            try others.request(at: .styles(simple: [], label: [1], matrix: [1], flat: "a"))
        }
        #expect(error?.kind == .invalidRequest)
    }

    @Test func anOperationThatWantsTwoCredentialsGetsBoth() async throws {
        let spy = Spy()
        let credentials = ConstructsCredentials(
            token: .fixed(.bearer("t")),
            key: .fixed(.apiKey("k", inHeader: "X-Key"))
        )
        let both = NetworkConnector(
            environment: .production,
            provider: spy.provider.authenticating(by: credentials),
            router: ConstructsRouter.self
        )
        _ = try? await both.value(.putLocals(body: Self.locals))
        let one = NetworkConnector(
            environment: .production,
            provider: spy.provider.authenticating(by: ConstructsCredentials.key("k")),
            router: ConstructsRouter.self
        )
        _ = try? await one.value(.putLocals(body: Self.locals))
        #expect(spy.seen.map { $0.headers[.authorization] } == ["Bearer t", nil])
        #expect(spy.seen.map { $0.headers["X-Key"] } == ["k", nil])
    }
}
