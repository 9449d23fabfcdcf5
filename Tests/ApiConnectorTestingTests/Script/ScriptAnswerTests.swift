// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ScriptAnswerTests {
    private let script = Script(for: Shop.self, in: .test)
}

extension ScriptAnswerTests {
    @Test func answersARouteWithAValue() async throws {
        script.on(.tea(id: 1)).answer(Tea.green)
        #expect(try await script.connection().value(Tea.self, at: .tea(id: 1)) == .green)
        #expect(await script.end().isEmpty)
    }

    @Test func answersACallAsItsValue() async throws {
        script.on(call: .greens).answer([Tea.green])
        script.on(call: .login).answer(.status(204))
        let shop = script.connection()
        #expect(try await shop.value(.greens) == [.green])
        try await shop.send(.login)
        #expect(await script.end().isEmpty)
    }

    @Test func aCallsAnswerMustDecodeAsItsValue() {
        let line = #line + 1
        script.on(call: .greens).answer(.json(Tea.green), times: .anyNumber)
        #expect(
            script.issues.map(\.description) == [
                "The answer declared at \(place(line)) does not fit GET https://shop.example.com/teas?page=1: the "
                    + "value does not decode as Array<Tea>: at the top level an array was expected; found "
                    + "{\"id\":1,\"name\":\"green\"}."
            ]
        )
    }

    @Test func answersInTheOrderOfTheDeclarations() async throws {
        script.on(.tea(id: 1)).answer(.status(503), times: 2).answer(Tea.green, times: .atLeastOnce)
        let shop = script.connection()
        for _ in 0..<2 {
            let error = await #expect(throws: ApiConnectorError.self) { try await shop.data(at: .tea(id: 1)) }
            #expect(error?.response?.status == 503)
        }
        for _ in 0..<3 { #expect(try await shop.value(Tea.self, at: .tea(id: 1)) == .green) }
        #expect(await script.end().isEmpty)
    }

    @Test func answersAnEnumCaseWithAnyValues() async throws {
        script.on { if case .tea = $0 { true } else { false } }.answer(times: 2) { request in
            .json(Tea(id: Int(request.url.lastPathComponent) ?? 0, name: "any"))
        }
        let shop = script.connection()
        #expect(try await shop.value(Tea.self, at: .tea(id: 3)).id == 3)
        #expect(try await shop.value(Tea.self, at: .tea(id: 4)).id == 4)
        #expect(await script.end().isEmpty)
    }

    @Test(
        arguments: [
            [.method(.post), .path("/teas")],
            [.path("/{collection}")],
            [.json(["name": "green"])],
            [.header("x-shop", "tea")],
            [.body(Data(#"{"id":1,"name":"green"}"#.utf8)).or(.json(["id": 1]))],
            [.not(.method(.get))],
            [.satisfying("has a body") { !$0.body.isEmpty }],
            [.method(.post).and(.not(.query("page", "1")))],
        ] as [[RequestMatcher]]
    )
    func answersRequestsThatMatchersMatch(matchers: [RequestMatcher]) async throws {
        let all = matchers.dropFirst().reduce(matchers[0]) { $0.and($1) }
        script.on(matching: all).answer(.status(201))
        try await script.connection().send(at: .add(.green))
        #expect(await script.end().isEmpty)
    }

    @Test func matchesAForm() async throws {
        script.on(matching: .form(["user": "ada"])).answer(.status(204))
        try await script.connection().send(at: .login(password: "tea & more"))
        script.on(matching: .form(["password": "tea & more", "user": "ada"])).answer(.status(204))
        try await script.connection().send(at: .login(password: "tea & more"))
        #expect(await script.end().isEmpty)
    }

    @Test func matchesARouteByItsRequest() async throws {
        script.on(.add(.green)).answer(.status(201))
        let url = try #require(URL(string: "https://SHOP.example.com/teas"))
        let request = ApiRequest(
            url: url,
            method: .post,
            headers: ["X-Shop": "tea", "Authorization": "Bearer abc"],
            body: .data(Data(#"{ "name": "green", "id": 1 }"#.utf8))
        )
        #expect(try await TestConnector(script).response(for: request).status == 201)
    }

    @Test func readsAStreamedBodyOnce() async throws {
        script.on(matching: .body(Data("abcd".utf8))).answer(.status(201))
        let url = try #require(URL(string: "https://shop.example.com/teas"))
        let body = RequestBody.stream(isReplayable: false) {
            AsyncStream { continuation in
                continuation.yield(Data("ab".utf8))
                continuation.yield(Data("cd".utf8))
                continuation.finish()
            }
        }
        let response = try await TestConnector(script).response(for: ApiRequest(url: url, method: .put, body: body))
        #expect(response.status == 201)
        #expect(script.requests.map(\.body) == [Data("abcd".utf8)])
    }

    @Test func aHeldAnswerWaitsForItsRelease() async throws {
        let answers = script.on(.tea(id: 1))
        let first = answers.hold()
        let second = answers.hold()
        let shop = script.connection()
        let early = Task { try await shop.value(Tea.self, at: .tea(id: 1)) }
        #expect(try await first.request().number == 1)
        let late = Task { try await shop.value(Tea.self, at: .tea(id: 1)) }
        #expect(try await second.request().number == 2)

        second.release(Tea.black)
        #expect(try await late.value == .black)
        #expect(script.requests.map(\.outcome.description) == ["pending", "answered 200 OK"])
        first.release(.json(Tea.green))
        #expect(try await early.value == .green)
        #expect(await script.end().isEmpty)
    }

    @Test func aHeldAnswerEndsWithItsCall() async throws {
        let held = script.on(.tea(id: 1)).hold()
        let shop = script.connection()
        let call = Task { try await shop.data(at: .tea(id: 1)) }
        _ = try await held.request()
        call.cancel()
        let error = await #expect(throws: ApiConnectorError.self) { try await call.value }
        #expect(error?.kind == .cancelled)
        #expect(script.requests.map(\.outcome.description) == ["cancelled"])
        #expect(await script.end().isEmpty)
    }

    @Test func aWaitForARequestTimesOut() async throws {
        let line = #line + 1
        let held = script.on(.tea(id: 1)).hold()
        let error = await #expect(throws: (any Error).self) { try await held.request(within: .milliseconds(1)) }
        #expect(
            error.map { "\($0)" } == "no request asked for the answer held at \(place(line)) within 0.001 seconds"
        )
        held.release(.status(204))
        #expect(
            await script.end().map(\.description)
                == ["The answer held to GET https://shop.example.com/teas/1 was never given."]
        )
    }

    @Test func readsAnAnswerFromAFile() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).json")
        try Data(#"{"id":1,"name":"green"}"#.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        script.on(.tea(id: 1), as: Tea.self).answer(.file(file))
        #expect(try await script.connection().value(Tea.self, at: .tea(id: 1)) == .green)
        #expect(await script.end().isEmpty)
    }

    @Test func aMissingFileFailsTheCallWithItsName() async throws {
        let provider = TestConnector { _ in .file(URL(filePath: "missing-tea.json")) }
        let shop = NetworkConnector(environment: .test, provider: provider, router: Shop.self)
        let error = await #expect(throws: ApiConnectorError.self) { try await shop.data(at: .tea(id: 1)) }
        #expect(error?.detail == "the file missing-tea.json of a canned answer cannot be read")
    }
}
