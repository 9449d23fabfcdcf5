// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorOpenAPI
import ApiConnectorTesting
import Testing

/// Tests of the requests that the generated client's calls send.
struct CallTests {
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

    @Test func aPartIsAFileOrTextOrJSONAsItsAlternativeIs() async throws {
        let file = FormFile(.data(Data("bytes".utf8)), fileName: "cat.png")
        let form = SendFormForm(
            image: .files([file, file]),
            cover: .reference(SendFormForm.Cover.Reference(id: 7)),
            strategy: .option1(.auto),
            at: DateTime(Date(timeIntervalSince1970: 0)),
            times: [DateTime(Date(timeIntervalSince1970: 1))],
            boxes: [SendFormForm.Box(width: 1), SendFormForm.Box(width: 2)],
            grid: [[1, 2], [3]],
            sheet: FormFile(.data(Data("<row/>".utf8)), fileName: nil),
            raw: file,
            additionalProperties: ["z": 2, "y": 1]
        )
        var texts: [String] = []
        for part in form.parts {
            let text = String(decoding: try await part.body.collect(upTo: 1_000), as: UTF8.self)
            texts.append("\(part.name) \(part.mediaType?.description ?? "-") \(text)")
        }
        #expect(
            texts == [
                "image application/octet-stream bytes", "image application/octet-stream bytes",
                #"cover application/json {"id":7}"#, "strategy - auto",
                "at - 1970-01-01T00:00:00Z",
                "times - 1970-01-01T00:00:01Z", #"boxes application/json {"width":1}"#,
                #"boxes application/json {"width":2}"#, "grid application/json [1,2]", "grid application/json [3]",
                "sheet application/xml <row/>", "raw application/octet-stream bytes",
                "y - 1", "z - 2",
            ]
        )
    }

    @Test func aSchemaOfJSONAndOfAFormHasBothForms() throws {
        #expect(try files.request(.replaceForm()).body.isEmpty)
        let body = try files.request(.replaceForm(body: Draft(note: .null, files: .file("x")))).body.data()
        #expect(try JSONDecoder().decode(JSONValue.self, from: body) == ["files": "x", "note": nil])
        let form = ReplaceFormForm(files: .file(FormFile(.data(Data([1])))))
        #expect(form.parts.map(\.name) == ["files"])
        #expect(try files.request(.replaceForm(form: form)).headers[.contentType]?.hasPrefix("multipart/") == true)
    }

    @Test func keysInCookiesAreSentNextToOtherCookies() async throws {
        let spy = Spy()
        let credentials = ConstructsCredentials(
            sid: .fixed(.apiKey("1", inCookie: "sid")),
            csrf: .fixed(.apiKey("2", inCookie: "csrf"))
        )
        let connection = NetworkConnector(
            environment: .production,
            provider: spy.provider.authenticating(by: credentials),
            router: ConstructsRouter.self
        )
        try await connection.send(.cookies(theme: "dark", await: "a", direction: .up))
        #expect(spy.seen.map { $0.headers[.cookie] } == ["theme=dark; sid=1; csrf=2"])
        #expect(spy.seen.map { $0.url.query() } == ["await=a&direction=up"])
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
