// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

@Suite(.timeLimit(.minutes(10)))
struct AnswerShapeTests {
    private let clock = ManualClock()
}

extension AnswerShapeTests {
    private func response(_ answer: TestConnectorResponse, streamed: Bool = true) async throws -> ApiResponse {
        let url = try #require(URL(string: "http://example.com/"))
        var request = ApiRequest(url: url)
        if streamed { request.delivery = .streamed }
        return try await TestConnector { _ in answer }.response(for: request)
    }

    private func chunks(_ answer: TestConnectorResponse) async throws -> [String] {
        var chunks: [String] = []
        for try await chunk in try await response(answer).body { chunks.append(String(decoding: chunk, as: UTF8.self)) }
        return chunks
    }

    @Test func aBodyArrivesInItsChunks() async throws {
        #expect(try await chunks(.chunks([Data("ab".utf8), Data("c".utf8)])) == ["ab", "c"])
        #expect(try await chunks(.data(Data("abcde".utf8)).chunked(byteCount: 2)) == ["ab", "cd", "e"])
    }

    @Test func chunksAreCollectedForACall() async throws {
        let script = Script(for: Shop.self, in: .test)
        script.on(.tea(id: 1)).answer(.json(Tea.green).chunked(byteCount: 1))
        #expect(try await script.connection().value(Tea.self, at: .tea(id: 1)) == .green)
        #expect(script.requests.map(\.outcome.description) == ["answered 200 OK"])
        #expect(await script.end().isEmpty)
    }

    @Test(arguments: [true, false])
    func aBodyOverTheLimitIsRecordedAsTheCallsError(inChunks: Bool) async throws {
        let script = Script(for: Shop.self, in: .test)
        let answer = TestConnectorResponse.data(Data(count: 100))
        script.on(.tea(id: 1)).answer(inChunks ? answer.chunked(byteCount: 30) : answer)
        let error = await #expect(throws: ApiConnectorError.self) {
            try await script.connection().data(
                at: .tea(id: 1),
                options: CallOptions(maximumBodyByteCount: 50)
            )
        }
        #expect(error?.kind == .bodyTooLarge)
        #expect(script.requests.map(\.outcome.description) == ["failed (bodyTooLarge)"])
    }

    @Test func aPauseBeforeTheHeadUsesTheVirtualClock() async throws {
        async let answer = response(.status(204).after(.seconds(3600), on: clock))
        #expect(try await clock.nextSleep() == .seconds(3600))
        clock.advance(by: .seconds(3600))
        #expect(try await answer.status == 204)
    }

    @Test func aSlowBodyPausesBetweenItsChunks() async throws {
        let answer = TestConnectorResponse.data(Data("abcde".utf8)).chunked(byteCount: 2).pausing(
            .seconds(9),
            on: clock
        )
        async let text = chunks(answer)
        for _ in 0..<2 {
            #expect(try await clock.nextSleep() == .seconds(9))
            clock.advance(by: .seconds(9))
        }
        #expect(try await text == ["ab", "cd", "e"])
        #expect(clock.now == .seconds(18))
    }

    @Test func aStalledBodyEndsAtTheCallsTimeout() async throws {
        let script = Script(for: Shop.self, in: .test)
        script.on(.tea(id: 1)).answer(.json(Tea.green).chunked(byteCount: 4).pausing(.seconds(90), on: clock))
        let timeouts = Timeouts(attempt: nil, stall: .seconds(60), overall: nil)
        let shop = script.connection(ConnectionConfiguration(timeouts: timeouts, timeSource: clock))
        let call = Task { try await shop.data(at: .tea(id: 1)) }
        // The limit and the pause.
        #expect(Set([try await clock.nextSleep(), try await clock.nextSleep()]) == [.seconds(60), .seconds(90)])
        clock.advance(by: .seconds(60))
        let error = await #expect(throws: ApiConnectorError.self) { try await call.value }
        #expect(error?.kind == .stalled)
        #expect(await script.end().isEmpty)
    }

    @Test(arguments: [TestConnectorResponse.BreakingPoint.beforeHead, .inHead, .afterByteCount(3)], [true, false])
    func aBrokenAnswerIsAnError(point: TestConnectorResponse.BreakingPoint, streamed: Bool) async throws {
        let answer = TestConnectorResponse.data(Data("abcde".utf8)).chunked(byteCount: 2).failing(point)
        let error = await #expect(throws: ApiConnectorError.self) {
            try await response(answer, streamed: streamed).body.collect(upTo: 100)
        }
        #expect(error?.kind == .connectionLost)
        let place =
            switch point {
            case .beforeHead: "before the head"
            case .inHead: "in the head"
            case .afterByteCount(let count): "after \(count) bytes of the body"
            }
        #expect(error?.detail == "the connection was lost \(place)")
    }

    @Test func aBodyCutAnywhereNeverSucceeds() async throws {
        let body = try JSONEncoder().encode(Tea.green)
        for count in 0...body.count {
            let script = Script(for: Shop.self, in: .test)
            script.on(.tea(id: 1)).answer(.json(Tea.green).failing(.afterByteCount(count)))
            let error = await #expect(throws: ApiConnectorError.self) {
                try await script.connection().value(Tea.self, at: .tea(id: 1))
            }
            #expect(error?.kind == .connectionLost)
            #expect(script.requests.map(\.outcome.description) == ["failed (connectionLost)"])
            #expect(await script.end().isEmpty)
        }
    }

    @Test func theBytesBeforeTheBreakArrive() async throws {
        var seen = Data()
        let answer = TestConnectorResponse.data(Data("abcde".utf8)).failing(.afterByteCount(3))
        let body = try await response(answer).body
        let error = await #expect(throws: ApiConnectorError.self) {
            for try await chunk in body { seen += chunk }
        }
        #expect(error?.kind == .connectionLost)
        #expect(seen == Data("abc".utf8))
    }

    @Test func aTestFeedsEventsStepByStep() async throws {
        let feed = BodyFeed()
        let response = try await response(.events(feed))
        #expect(response.headers[.contentType] == "text/event-stream")
        let reading = Task {
            var texts: [String] = []
            for try await chunk in response.body { texts.append(String(decoding: chunk, as: UTF8.self)) }
            return texts
        }
        try await feed.send(event: "tea", data: "green\nblack", id: "1")
        try await feed.send(data: "white")
        feed.finish()
        #expect(
            try await reading.value == ["event: tea\ndata: green\ndata: black\nid: 1\n\n", "data: white\n\n"]
        )
        await #expect(throws: (any Error).self) { try await feed.send(data: "late") }
    }

    @Test func aTestCanWaitUntilTheBodyOfTheLoopHasRun() async throws {
        let feed = BodyFeed()
        let body = try await response(.events(feed)).body
        let seen = Locked<[String]>([])
        let reading = Task {
            for try await event in body.stream(of: ServerSentEvent.self, as: .events) {
                // Time for the test to see that the body has not run yet.
                for _ in 0..<100 { await Task.yield() }
                seen.withLock { $0.append(event.data) }
            }
        }
        try await feed.sendAndWait(event: "tea", data: "green", id: "1")
        #expect(seen.withLock { $0 } == ["green"])
        try await feed.sendAndWait(Data("data: black\n\ndata: white\n\ndata: la".utf8))
        #expect(seen.withLock { $0 } == ["green", "black", "white"])
        try await feed.sendAndWait(Data("st\n\n".utf8))
        #expect(seen.withLock { $0 } == ["green", "black", "white", "last"])
        feed.finish()
        try await reading.value
        await #expect(throws: (any Error).self) { try await feed.sendAndWait(data: "late") }
    }

    @Test func aFeedCanBreakOff() async throws {
        let feed = BodyFeed()
        let response = try await response(.feed(feed))
        let reading = Task { try await response.body.collect(upTo: 100) }
        try await feed.send(Data("ab".utf8))
        feed.fail()
        let error = await #expect(throws: ApiConnectorError.self) { try await reading.value }
        #expect(error?.detail == "the connection was lost in the body")
    }

    @Test(arguments: 0...8, [1, 2, 3, 8])
    func aFedBodyCanBreakOffAtEachByte(count: Int, pieceByteCount: Int) async throws {
        let text = Data("abcdefgh".utf8)
        let feed = BodyFeed()
        let body = try await response(.feed(feed).failing(.afterByteCount(count))).body
        let reading = Task {
            var seen = Data()
            do throws(ApiConnectorError) {
                for try await chunk in body { seen += chunk }
            } catch {
                return (seen, error.detail)
            }
            return (seen, "it has ended well")
        }
        var takenCount = 0
        var refusal: String?
        for start in stride(from: 0, to: text.count, by: pieceByteCount) where refusal == nil {
            do {
                try await feed.send(text[start..<min(start + pieceByteCount, text.count)])
                takenCount += 1
            } catch {
                refusal = "\(error)"
            }
        }
        let (seen, detail) = await reading.value
        #expect(seen == text.prefix(count))
        #expect(detail == "the connection was lost after \(count) bytes of the body")
        #expect(takenCount == (count + pieceByteCount - 1) / pieceByteCount)
        #expect(refusal == (takenCount * pieceByteCount < text.count ? "the fed body has already ended" : nil))
    }

    @Test(arguments: [1, 3])
    func aFeedThatEndsBeforeItsBreakBreaksOffAtItsEnd(pieceCount: Int) async throws {
        let script = Script(for: Shop.self, in: .test)
        let feed = BodyFeed()
        // The nearer of two breaks counts.
        let answer = TestConnectorResponse.feed(feed).failing(.afterByteCount(99)).failing(.afterByteCount(7))
        script.on(.tea(id: 1)).answer(answer)
        let shop = script.connection()
        let call = Task { try await shop.data(at: .tea(id: 1)) }
        for _ in 0..<pieceCount { try await feed.send(Data("abc".utf8)) }
        feed.finish()
        let error = await #expect(throws: ApiConnectorError.self) { try await call.value }
        #expect(error?.detail == "the connection was lost after 7 bytes of the body")
        #expect(script.requests.map(\.outcome.description) == ["failed (connectionLost)"])
        #expect(await script.end().isEmpty)
    }

    @Test func aFeedLearnsThatItsReaderStopped() async throws {
        let feed = BodyFeed()
        let body = try await response(.feed(feed)).body
        let reading = Task { try await body.collect(upTo: 100) }
        try await feed.send(Data("ab".utf8))
        reading.cancel()
        let error = await #expect(throws: ApiConnectorError.self) { try await reading.value }
        #expect(error?.kind == .cancelled)
        let refusal = await #expect(throws: (any Error).self) { try await feed.send(Data("cd".utf8)) }
        #expect(refusal.map { "\($0)" } == "the fed body has already ended")
    }

    @Test func aStreamOfEventsIsBrokenOffAndResumedStepByStep() async throws {
        let script = Script(for: Shop.self, in: .test)
        let first = BodyFeed(), second = BodyFeed()
        script.on(.teas(page: 1)).answer(.events(first)).answer(.events(second))
        let shop = script.connection(ConnectionConfiguration(timeouts: .unlimited, timeSource: clock))
        let policy = RetryPolicy(initialDelay: .seconds(1), random: { 0.5 })
        let stream = shop.stream(of: ServerSentEvent.self, at: .teas(page: 1), as: .events.resuming(policy))
        let reading = Task {
            var seen: [String] = []
            for try await event in stream {
                seen.append(event.data)
                if event.data == "white" { break }
            }
            return seen
        }

        try await first.send(data: "green", id: "7")
        first.fail()
        clock.advance(by: try await clock.nextSleep())
        try await second.send(data: "black")
        try await second.send(data: "white")

        #expect(try await reading.value == ["green", "black", "white"])
        #expect(script.requests.map { $0.headers["Last-Event-ID"] } == [nil, "7"])
        #expect(script.requests.map(\.outcome.description) == ["failed (connectionLost)", "cancelled"])
        #expect(await script.end().isEmpty)
    }
}
