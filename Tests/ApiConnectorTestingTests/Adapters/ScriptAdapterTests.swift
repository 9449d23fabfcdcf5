// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

/// The same script over each adapter, seen from the code under test and from the test.
@Suite(.timeLimit(.minutes(10)))
struct ScriptAdapterTests {
    private let script = Script(for: Kiosk.self, in: KioskServer())
}

extension ScriptAdapterTests {
    private func failure(
        _ body: () async throws(ApiConnectorError) -> some Sendable
    ) async throws -> ApiConnectorError {
        do {
            _ = try await body()
        } catch {
            return error
        }
        throw CancellationError()
    }

    @Test(arguments: ScriptAdapter.all)
    func checkK_deliversStatusHeadersAndBody(_ adapter: ScriptAdapter) async throws {
        script.on(.papers(page: 2)).answer([Paper.morning, .evening], headers: ["X-Total": "2", "X-Empty": ""])
        let kiosk = try adapter.connection(to: script)
        let response = try await kiosk.response(of: [Paper].self, at: .papers(page: 2))
        #expect(response.value == [.morning, .evening])
        #expect(response.status == 200)
        #expect(response.headers["X-Total"] == "2")
        #expect(response.headers[.contentType] == "application/json")
        #expect(response.url.absoluteString == "http://kiosk.example.com:80/v1/papers?page=2")

        let sent = try #require(script.requests.first)
        #expect(sent.url.absoluteString.replacing(":80", with: "") == "http://kiosk.example.com/v1/papers?page=2")
        #expect(sent.headers["X-Kiosk"] == "corner")
        #expect(sent.outcome.description == "answered 200 OK")
        #expect(await script.end().isEmpty)
    }

    @Test(arguments: ScriptAdapter.all)
    func checkK_seesTheBodyThatWasSent(_ adapter: ScriptAdapter) async throws {
        script.on(.order(count: 3)).answer(.status(201))
        script.on(matching: .method(.post), .json(["count": 4])).answer(.status(202))
        let kiosk = try adapter.connection(to: script)
        #expect(try await kiosk.response(at: .order(count: 3)).status == 201)
        #expect(try await kiosk.response(at: .order(count: 4)).status == 202)
        #expect(try script.requests.map { try $0.json(as: [String: Int].self) } == [["count": 3], ["count": 4]])
        #expect(script.requests.map { $0.headers[.contentType] } == ["application/json", "application/json"])
        #expect(await script.end().isEmpty)
    }

    @Test(arguments: ScriptAdapter.all)
    func checkK_givesASequenceInOrder(_ adapter: ScriptAdapter) async throws {
        script.on(.paper(id: 1)).answer(.status(503), times: 2).answer(Paper.morning)
        let kiosk = try adapter.connection(to: script)
        for _ in 1...2 {
            #expect(
                try await failure { () async throws(ApiConnectorError) in try await kiosk.data(at: .paper(id: 1)) }
                    .response?.status == 503
            )
        }
        #expect(try await kiosk.value(Paper.self, at: .paper(id: 1)) == .morning)
        _ = try await failure { () async throws(ApiConnectorError) in try await kiosk.data(at: .paper(id: 1)) }
        let issues = await script.end()
        #expect(issues.map(\.kind) == [.exhausted])
        #expect(issues.first?.place.filePath.description.hasSuffix("ScriptAdapterTests.swift") == true)
    }

    @Test(arguments: ScriptAdapter.all)
    func checkK_deliversResponsesWithoutABody(_ adapter: ScriptAdapter) async throws {
        script.on(.order(count: 1)).answer(.status(204))
        script.on(.peek).answer(.data(Data("unseen".utf8), headers: ["X-Orders": "7"]))
        let kiosk = try adapter.connection(to: script)
        #expect(try await kiosk.data(at: .order(count: 1)).isEmpty)
        let peek = try await kiosk.response(at: .peek)
        #expect(peek.headers["X-Orders"] == "7")
        #expect(try await peek.body.collect(upTo: 100).isEmpty)
        #expect(await script.end().isEmpty)
    }

    @Test(arguments: ScriptAdapter.all)
    func checkK_deliversARedirectThatTheClientFollows(_ adapter: ScriptAdapter) async throws {
        script.on(.paper(id: 1)).answer(.status(302, headers: [.location: "/v1/papers/2"]))
        script.on(matching: .path("/v1/papers/2")).answer(Paper.evening)
        let kiosk = try adapter.connection(to: script)
        #expect(try await kiosk.value(Paper.self, at: .paper(id: 1)) == .evening)
        #expect(script.requests.map(\.outcome.description) == ["answered 302 Found", "answered 200 OK"])
        #expect(await script.end().isEmpty)
    }

    @Test(arguments: ScriptAdapter.all)
    func checkK_losesTheConnectionBeforeTheHead(_ adapter: ScriptAdapter) async throws {
        script.on(.paper(id: 1)).answer(.json(Paper.morning).failing(.beforeHead))
        let kiosk = try adapter.connection(to: script)
        let error = try await failure { () async throws(ApiConnectorError) in try await kiosk.data(at: .paper(id: 1)) }
        #expect(error.kind == .connectionLost)
        #expect(script.requests.map(\.outcome.description) == ["failed (connectionLost)"])
        #expect(await script.end().isEmpty)
    }

    @Test(arguments: ScriptAdapter.all, [0, 1, 7, 24])
    func checkK_losesTheConnectionInTheBody(_ adapter: ScriptAdapter, _ byteCount: Int) async throws {
        script.on(.paper(id: 1)).answer(.json(Paper.morning).failing(.afterByteCount(byteCount)))
        let kiosk = try adapter.connection(to: script)
        let error = try await failure { () async throws(ApiConnectorError) in try await kiosk.data(at: .paper(id: 1)) }
        #expect(error.kind == .connectionLost)
        #expect(script.requests.map(\.outcome.description) == ["failed (connectionLost)"])
        #expect(await script.end().isEmpty)
    }

    @Test(arguments: ScriptAdapter.all)
    func checkK_deliversAMalformedResponse(_ adapter: ScriptAdapter) async throws {
        script.on(.paper(id: 1)).answer(.failure(ApiConnectorError(.malformedResponse, "it is no HTTP")))
        let kiosk = try adapter.connection(to: script)
        let error = try await failure { () async throws(ApiConnectorError) in try await kiosk.data(at: .paper(id: 1)) }
        #expect(error.kind == .malformedResponse)
        #expect(await script.end().isEmpty)
    }

    @Test(arguments: ScriptAdapter.all)
    func checkK_streamsChunksOneByOne(_ adapter: ScriptAdapter) async throws {
        let lines = (1...3).map { Data("{\"id\":\($0),\"title\":\"t\"}\n".utf8) }
        script.on(.papers(page: 1)).answer(.chunks(lines, headers: [.contentType: "application/x-ndjson"]))
        let kiosk = try adapter.connection(to: script)
        var ids: [Int] = []
        for try await paper in kiosk.stream(of: Paper.self, at: .papers(page: 1)) { ids.append(paper.id) }
        #expect(ids == [1, 2, 3])
        #expect(await script.end().isEmpty)
    }

    @Test(arguments: ScriptAdapter.all.filter { $0 != .seed })
    func checkK_streamsABodyThatTheTestFeeds(_ adapter: ScriptAdapter) async throws {
        let feed = BodyFeed()
        script.on(.papers(page: 1)).answer(.feed(feed, headers: [.contentType: "application/x-ndjson"]))
        let kiosk = try adapter.connection(to: script)
        var papers = kiosk.stream(of: Paper.self, at: .papers(page: 1)).makeAsyncIterator()
        for id in 1...3 {
            async let sent: Void = feed.send(Data("{\"id\":\(id),\"title\":\"t\"}\n".utf8))
            #expect(try await papers.next()?.id == id)
            try await sent
        }
        feed.finish()
        #expect(try await papers.next() == nil)
        #expect(await script.end().isEmpty)
    }

    @Test(arguments: ScriptAdapter.all)
    func checkK_holdsAnAnswerUntilItIsReleased(_ adapter: ScriptAdapter) async throws {
        let first = script.on(.paper(id: 1)).hold()
        let second = script.on(.paper(id: 2)).hold()
        let kiosk = try adapter.connection(to: script)
        async let one = kiosk.value(Paper.self, at: .paper(id: 1))
        #expect(try await first.request().url.path() == "/v1/papers/1")
        async let two = kiosk.value(Paper.self, at: .paper(id: 2))
        #expect(try await second.request().url.path() == "/v1/papers/2")
        second.release(Paper.evening)
        #expect(try await two == .evening)
        first.release(Paper.morning)
        #expect(try await one == .morning)
        #expect(await script.end().isEmpty)
    }

    @Test(arguments: ScriptAdapter.all)
    func checkK_staysSilentUntilTheCallIsCanceled(_ adapter: ScriptAdapter) async throws {
        script.on(.paper(id: 1)).answer(.never)
        let kiosk = try adapter.connection(to: script)
        let call = Task { try await kiosk.data(at: .paper(id: 1)) }
        _ = try await script.nextRequest()
        call.cancel()
        let error = await #expect(throws: ApiConnectorError.self) { try await call.value }
        #expect(error?.kind == .cancelled)
        // The other end learns of it in its own time, before the script lets go.
        #expect(await script.end().isEmpty)
    }

    @Test(arguments: ScriptAdapter.all)
    func checkK_anUnmatchedRequestFailsAndIsAnIssue(_ adapter: ScriptAdapter) async throws {
        script.on(.paper(id: 1)).answer(Paper.morning, times: .anyNumber)
        let kiosk = try adapter.connection(to: script)
        let error = try await failure { () async throws(ApiConnectorError) in try await kiosk.data(at: .paper(id: 2)) }
        #expect("\(error)".contains("has no answer to this request"))
        let issues = await script.end()
        #expect(issues.map(\.kind) == [.unmatched])
        #expect(issues.first?.description.contains("path: \"/v1/papers/1\" was expected") == true)
    }

    @Test(arguments: ScriptAdapter.all)
    func checkK_anUnusedAnswerIsAnIssueAtItsLine(_ adapter: ScriptAdapter) async throws {
        let line = #line + 1
        script.on(.paper(id: 1)).answer(Paper.morning, times: 2)
        let kiosk = try adapter.connection(to: script)
        _ = try await kiosk.data(at: .paper(id: 1))
        let issues = await script.end()
        #expect(issues.map(\.kind) == [.unused])
        #expect(issues.map { Int($0.place.line) } == [line])
    }

    @Test(arguments: ScriptAdapter.all)
    func checkK_refusesRequestsAfterTheScriptHasEnded(_ adapter: ScriptAdapter) async throws {
        script.on(.paper(id: 1)).answer(Paper.morning, times: .anyNumber)
        let kiosk = try adapter.connection(to: script)
        #expect(await script.end().isEmpty)
        let error = try await failure { () async throws(ApiConnectorError) in try await kiosk.data(at: .paper(id: 1)) }
        #expect("\(error)".contains("has ended"))
    }

    @Test(arguments: ScriptAdapter.all)
    func checkK_answersConcurrentRequests(_ adapter: ScriptAdapter) async throws {
        for id in 1...20 { script.on(.paper(id: id)).answer(Paper(id: id, title: "\(id)")) }
        let kiosk = try adapter.connection(to: script)
        let ids = try await withThrowingTaskGroup(of: Bool.self) { group in
            for id in 1...20 {
                group.addTask { try await kiosk.value(Paper.self, at: .paper(id: id)).id == id }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(ids == 20)
        #expect(script.requests.count == 20)
        #expect(await script.end().isEmpty)
    }
}
