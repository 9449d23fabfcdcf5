// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

/// Tests of the requests that the generated client's calls send.
@Suite struct CallTests {
    private let pets = NetworkConnector(
        environment: .production,
        provider: TestConnector { _ in .json(["ok": true]) },
        router: PetsRouter.self
    )
    private let files = NetworkConnector(
        environment: .production,
        provider: TestConnector { _ in .json(["ok": true]) },
        router: FilesRouter.self
    )
    private let others = NetworkConnector(
        environment: .production,
        provider: TestConnector { _ in .json(["ok": true]) },
        router: ConstructsRouter.self
    )

    @Test func aCallWithoutArgumentsHasNoQuery() throws {
        let request = try pets.request(.list())
        #expect(request.url.absoluteString == "https://api.example.com/v1/pets")
        #expect(request.method == .get)
    }

    @Test func eachStyleOfAQueryIsWrittenAsTheSpecificationSays() throws {
        let request = try pets.request(
            .list(
                limit: 5,
                kinds: [.cat, .dog],
                ids: [1, 2],
                spaced: ["a", "b"],
                piped: ["c", "d"],
                filter: PetsListFilter(name: "x&y", minAge: 3),
                where: ["k": "v"],
                since: Date(timeIntervalSince1970: 0.5)
            )
        )
        let query = URLComponents(url: request.url, resolvingAgainstBaseURL: false)?.queryItems ?? []
        let items = query.map { "\($0.name)=\($0.value ?? "")" }
        #expect(
            items == [
                "limit=5", "kinds=cat", "kinds=dog", "ids=1,2", "spaced=a b", "piped=c|d", "filter[min_age]=3",
                "filter[name]=x&y", "where={\"k\":\"v\"}", "since=1970-01-01T00:00:00.500Z",
            ]
        )
    }

    @Test func headerFieldsAndCookiesAreSent() throws {
        let request = try pets.request(.list(xTrace: ["a", "b"], session: "s"))
        #expect(request.headers["X-Trace"] == "a,b")
        #expect(request.headers[.cookie] == "session=s")
    }

    @Test func eachStyleOfAPathIsWrittenAsTheSpecificationSays() throws {
        let request = try others.request(
            at: .styles(simple: ["a/b", "c"], label: [1, 2], matrix: [3, 4], flat: "é")
        )
        #expect(
            request.url.absoluteString
                == "https://api.example.com/v1/styles/a%2Fb,c/.1.2/;matrix=3;matrix=4/;flat=%C3%A9"
        )
        #expect(request.headers[.accept] == "text/plain")
    }

    @Test func aMergePatchTellsAbsentNullAndValueApart() throws {
        func sent(_ body: PetsUpdateBody) throws -> String {
            String(decoding: try pets.request(.update(id: 1, body: body)).body.data(), as: UTF8.self)
        }
        #expect(try sent(PetsUpdateBody()) == "{}")
        #expect(try sent(PetsUpdateBody(nickname: .null)) == #"{"nickname":null}"#)
        #expect(try sent(PetsUpdateBody(nickname: .value("Tom"))) == #"{"nickname":"Tom"}"#)
        // A member that is not nullable in the document can be deleted too.
        #expect(try sent(PetsUpdateBody(name: .null)) == #"{"name":null}"#)
        let request = try pets.request(.update(id: 1, body: PetsUpdateBody()))
        #expect(request.headers[.contentType] == "application/merge-patch+json")
    }

    @Test func aFormIsWrittenAsOne() throws {
        let request = try files.request(at: .logIn(body: LogInBody(user: "a b", age: 3)))
        #expect(String(decoding: try request.body.data(), as: UTF8.self) == "user=a+b&age=3")
    }

    @Test func aMultipartFormHasAPartForEachField() async throws {
        let form = UploadFileForm(
            file: FormFile(.data(Data("bytes".utf8)), fileName: "cat.png"),
            title: "A cat",
            tags: ["x", "y"],
            meta: UploadFileForm.Meta(size: 3)
        )
        #expect(form.parts.map(\.name) == ["file", "title", "tags", "tags", "meta"])
        #expect(form.parts.first?.mediaType?.description == "image/png")
        #expect(form.parts.first?.fileName == "cat.png")
        let body = try await files.request(.uploadFile(form: form)).body.collect(upTo: 10_000)
        #expect(String(decoding: body, as: UTF8.self).contains(#"{"size":3}"#))
    }

    @available(*, deprecated, message: "It calls a deprecated operation.")
    @Test func eachOperationGetsTheCredentialThatItAsksFor() async throws {
        let spy = Spy()
        let connection = NetworkConnector(
            environment: .production,
            provider: spy.provider.authenticating(
                by: ConstructsCredentials(token: .fixed(.bearer("t")), key: .fixed(.apiKey("k", inHeader: "X-Key")))
            ),
            router: PetsRouter.self
        )
        try await connection.send(.delete(id: 1))
        _ = try? await connection.value(.create(body: .tom))
        let login = NetworkConnector(
            environment: .production,
            provider: spy.provider.authenticating(by: ConstructsCredentials.token("t")),
            router: FilesRouter.self
        )
        _ = try? await login.string(at: .logIn(body: LogInBody(user: "a")))
        #expect(spy.seen.map { $0.headers[.authorization] } == ["Bearer t", nil, nil])
        #expect(spy.seen.map { $0.headers["X-Key"] } == [nil, "k", nil])
    }

    @Test func serversAreEnvironments() {
        #expect(others.url(at: .styles(simple: [], label: [], matrix: [], flat: "")).host() == "api.example.com")
        #expect(ConstructsServer.regionalSystem(region: "us").host == "us.example.com")
        #expect(ConstructsServer.regionalSystem().port == 8443)
    }

    @Test func documentedErrorsAreTheRoutersFailure() async throws {
        let refusing = NetworkConnector(
            environment: .production,
            provider: TestConnector { _ in .json(["title": "No"], status: 422) },
            router: PetsRouter.self
        )
        guard case .backendFailure(.problem(let problem), let head) = await refusing.outcome(.get(id: 1)) else {
            Issue.record("not a documented error")
            return
        }
        #expect(problem.title == "No")
        #expect(head.status == 422)
    }
}
