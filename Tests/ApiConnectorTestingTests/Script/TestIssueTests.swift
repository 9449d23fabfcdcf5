// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Testing

@testable import ApiConnectorTesting

@Suite(.timeLimit(.minutes(10)))
struct TestIssueTests {}

extension TestIssueTests {
    @Test func anUnmatchedRequestListsTheThreeNearestAnswersAndDifferences() async throws {
        let line = #line + 1
        let script = Script(for: Shop.self, in: .test)
        script.on(.login(password: "secret")).answer(.status(204), times: .anyNumber)
        script.on(.teas(page: 1)).answer([Tea.green], times: .anyNumber)
        script.on(.tea(id: 1)).answer(Tea.green, times: .anyNumber)
        script.on(.add(.green)).answer(.status(201), times: .anyNumber)

        let error = await #expect(throws: ApiConnectorError.self) {
            try await script.connection().send(at: .add(.black))
        }

        let text = """
            POST https://shop.example.com/teas: the script made at \(place(line)) has no answer to this request; \
            to add one, write
              script.on(matching: .method(.post), .path("/teas"), .json(["id": 2, "name": "black"])).answer(.status(200))
            The script's nearest answers are for
              1. POST https://shop.example.com/teas, at \(place(line + 4))
                 body at id: 1 was expected, but 2 was sent
                 body at name: "green" was expected, but "black" was sent
              2. POST https://shop.example.com/login, at \(place(line + 1))
                 path: "/login" was expected, but "/teas" was sent
                 body: "password=REDACTED&user=ada" was expected, but "{"id":2,"name":"black"}" was sent
              3. GET https://shop.example.com/teas?page=1, at \(place(line + 2))
                 method: "GET" was expected, but "POST" was sent
                 query item page: "1" was expected, but none was sent
                 body: none was expected, but "{"id":2,"name":"black"}" was sent.
            """
        let issue = try #require(script.issues.first)
        #expect(issue.description == text)
        #expect(issue.kind == .unmatched)
        #expect(issue.place.line == line)
        #expect(error?.kind == .unmatched)
        #expect(text == "POST https://shop.example.com/teas: \(error?.detail ?? "").")
        #expect(await script.end().count == 1)
    }

    @Test func anEmptyScriptSaysSo() async throws {
        let line = #line + 1
        let script = Script(for: Shop.self, in: .test)
        _ = try? await script.connection().data(at: .teas(page: 2))
        #expect(
            await script.end().map(\.description) == [
                """
                GET https://shop.example.com/teas?page=2: the script made at \(place(line)) has no answer to this \
                request; to add one, write
                  script.on(matching: .method(.get), .path("/teas"), .query("page", "2")).answer(.status(200))
                The script has no answers.
                """
            ]
        )
    }

    @Test func eachFieldExplainsItself() async throws {
        let url = try #require(URL(string: "http://other.example.com:81/teas/7?page=1&token=zebra"))
        let headers: HTTPHeaders = ["X-Shop": "coffee", "Authorization": "Bearer zebra"]
        let request = ApiRequest(url: url, headers: headers, body: .json(["id": 1, "pin": 4]))
        let script = Script(for: Shop.self, in: .test)
        _ = try? await TestConnector(script).response(for: request)
        let sent = try #require(script.requests.first)
        func explained(_ matcher: RequestMatcher) -> [String] { matcher.explain(sent) }

        #expect(explained(.method(.put)) == [#"method: "PUT" was expected, but "GET" was sent"#])
        #expect(explained(.path("/tea/{id}")) == [#"path: "/tea/{id}" was expected, but "/teas/7" was sent"#])
        #expect(explained(.path("/teas/{id}")).isEmpty)
        #expect(explained(.query("page", "2")) == [#"query item page: "2" was expected, but "1" was sent"#])
        #expect(explained(.query("size", "2")) == [#"query item size: "2" was expected, but none was sent"#])
        #expect(
            explained(.query("token", "x")) == ["query item token: a secret value was expected, but another was sent"]
        )
        #expect(
            explained(.header("X-Shop", "tea")) == [#"header field X-Shop: "tea" was expected, but "coffee" was sent"#]
        )
        #expect(
            explained(.header(.authorization, "Bearer two"))
                == ["header field Authorization: a secret value was expected, but another was sent"]
        )
        #expect(
            explained(.json(["id": [1], "name": "green"])) == [
                "body at id: [1] was expected, but 1 was sent",
                #"body at name: "green" was expected, but none was sent"#,
            ]
        )
        #expect(explained(.form(["a": "b"])) == [#"form field a: "b" was expected, but none was sent"#])
        #expect(
            explained(.satisfying("is small") { $0.body.count < 3 }) == ["the request: \"is small\" does not hold"]
        )
        #expect(explained(.not(.method(.get))) == ["the request: .method(.get) must not match, but it does"])
        #expect(
            explained(.method(.put).and(.path("/x")).or(.query("page", "2")))
                == [#"query item page: "2" was expected, but "1" was sent"#]
        )
        for text in explained(.header(.authorization, "Bearer two")) + [script.issues[0].description] {
            #expect(!text.contains("zebra"))
        }
    }

    @Test func anUnusedAnswerIsAnIssueAtItsLine() async throws {
        let script = Script(for: Shop.self, in: .test)
        let line = #line + 2
        script.on(.tea(id: 1))
            .answer(.status(503), times: 3)
            .answer(Tea.green)
            .answer(Tea.black, times: .anyNumber)
        _ = try? await script.connection().data(at: .tea(id: 1))
        let issues = await script.end()
        let route = "GET https://shop.example.com/teas/1"
        #expect(
            issues.map(\.description) == [
                "The answer 503 Service Unavailable to \(route) was expected 3 times and given once.",
                "The answer 200 OK to \(route) was never given.",
            ]
        )
        #expect(issues.map(\.kind) == [.unused, .unused])
        #expect(issues.map(\.place.line) == [UInt(line), UInt(line + 1)])
    }

    @Test func twoDeclarationsForOneRequestAreAmbiguous() async throws {
        let script = Script(for: Shop.self, in: .test)
        let line = #line + 1
        script.on(.tea(id: 1)).answer(Tea.green, times: .anyNumber)
        script.on(matching: .path("/teas/{id}")).answer(Tea.black, times: .anyNumber)
        _ = try? await script.connection().data(at: .tea(id: 1))
        #expect(
            await script.end().map(\.description) == [
                "GET https://shop.example.com/teas/1: several declarations match this request: "
                    + "GET https://shop.example.com/teas/1 (\(place(line))), "
                    + ".path(\"/teas/{id}\") (\(place(line + 1))); "
                    + "declare the answers in a row, or make one matcher narrower."
            ]
        )
    }

    @Test func anUnreleasedAnswerIsAnIssue() async throws {
        let script = Script(for: Shop.self, in: .test)
        let line = #line + 1
        let held = script.on(.tea(id: 1)).hold()
        let shop = script.connection()
        let call = Task { try await shop.data(at: .tea(id: 1)) }
        _ = try await held.request()
        let issues = await script.end()
        #expect(
            issues.map(\.description) == [
                "GET https://shop.example.com/teas/1: the held answer was requested but not released; "
                    + "call release(_:), or cancel the call before the test ends."
            ]
        )
        #expect(issues.map(\.place.line) == [UInt(line)])
        let error = await #expect(throws: ApiConnectorError.self) { try await call.value }
        #expect(error?.kind == .cancelled)
    }

    @Test func theEndWaitsForAHeldAnswerThatIsReleasedLast() async throws {
        for _ in 0..<20 {
            let script = Script(for: Shop.self, in: .test)
            let held = script.on(.tea(id: 1)).hold()
            let shop = script.connection()
            let call = Task(priority: .background) { try await shop.value(Tea.self, at: .tea(id: 1)) }
            _ = try await held.request()
            held.release(Tea.green)
            #expect(await script.end().isEmpty)
            #expect(script.requests.map(\.outcome.description) == ["answered 200 OK"])
            #expect(try await call.value == .green)
        }
    }

    @Test func aComputedAnswerThatIgnoresCancellationIsStoppedWithItsScript() async throws {
        let script = Script(for: Shop.self, in: .test)
        let (begun, end) = (Eventual<Void>(), Eventual<Void>())
        script.on(.tea(id: 1)).answer { _ in
            begun.set(())
            await end.value()
            return .json(Tea.green)
        }
        let shop = script.connection()
        let call = Task { try await shop.data(at: .tea(id: 1)) }
        await begun.value()
        #expect(await script.end(waitingUpTo: .milliseconds(1)).map(\.kind) == [.unfinished])
        let error = await #expect(throws: ApiConnectorError.self) { try await call.value }
        #expect(error?.detail.contains("ended while the request was running") == true)
        end.set(())
    }

    @Test func aRequestPassedOnByAnotherSourceIsAnswered() async throws {
        let script = Script(for: Shop.self, in: .test)
        script.on(.tea(id: 1)).answer(.chunks([Data("a".utf8), Data("b".utf8)])).answer(.failure(URLError(.timedOut)))
            .answer(.never)
        let source = TestConnector { try await script.response(for: $0) }
        let shop = NetworkConnector<TestConnector<ClosureResponses>, Shop>(environment: .test, provider: source)
        #expect(try await shop.string(at: .tea(id: 1)) == "ab")
        await #expect(throws: ApiConnectorError.self) { try await shop.send(at: .tea(id: 1)) }
        let silent = Task { try? await shop.send(at: .tea(id: 1)) }
        _ = try await script.nextRequest()
        _ = try await script.nextRequest()
        _ = try await script.nextRequest()
        silent.cancel()
        await silent.value
        let outcomes = script.requests.map(\.outcome)
        try #require(outcomes.count == 3)
        guard case .answered(200) = outcomes[0], case .failed(let error) = outcomes[1] else {
            Issue.record("\(outcomes)")
            return
        }
        #expect(error.kind == .timedOut)
        // The script does not learn how the silence ended, and does not wait for the end.
        #expect(await script.end(waitingUpTo: .seconds(600)).isEmpty)
    }

    @Test func aRequestThatRunsAtTheEndIsAnIssue() async throws {
        let clock = ManualClock()
        let line = #line + 1
        let script = Script(for: Shop.self, in: .test)
        script.on(.tea(id: 1)).answer(.json(Tea.green).after(.seconds(5), on: clock))
        let shop = script.connection()
        let call = Task { try await shop.data(at: .tea(id: 1)) }
        #expect(try await clock.nextSleep() == .seconds(5))
        let issues = await script.end(waitingUpTo: .milliseconds(1))
        #expect(
            issues.map(\.description) == [
                "GET https://shop.example.com/teas/1: it was still running when the test "
                    + "ended, and did not end within "
                    + "0.001 seconds; await or cancel it before the test ends."
            ]
        )
        #expect(issues.map(\.place.line) == [UInt(line)])
        let error = await #expect(throws: ApiConnectorError.self) { try await call.value }
        #expect(error?.detail == "the script made at \(place(line)) ended while the request was running")
    }
}
