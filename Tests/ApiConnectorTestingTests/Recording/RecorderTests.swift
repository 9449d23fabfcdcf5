// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

@testable import ApiConnectorRecording
import ApiConnector
import Testing

@testable import ApiConnectorTesting

/// Which exchanges are recorded, sent and replayed.
@Suite(.timeLimit(.minutes(10))) struct RecorderTests: RecordingSuite {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }
}

extension RecorderTests {
    @Test func replaysRecordedAnswersAndSendsNothing() async throws {
        let recorder = try Recorder(file, mode: .record)
        let recorded = try await recorder.saving {
            try await connection(recorder) { _ in .json(Tea.green, headers: ["ETag": "a"]) }
                .response(of: Tea.self, at: .tea(id: 1))
        }
        let replayed = try await connection(try Recorder(file, mode: .replay)).response(of: Tea.self, at: .tea(id: 1))

        #expect(replayed.value == .green)
        #expect(replayed.value == recorded.value)
        #expect(replayed.headers == recorded.headers)
    }

    @Test func repeatedRequestsGetTheirAnswersInOrder() async throws {
        let recorder = try Recorder(file, mode: .record)
        let script = Script(for: Shop.self, in: .test)
        script.on(.tea(id: 1)).answer(.status(503)).answer(Tea.green).answer(Tea.black)
        let shop = NetworkConnector(
            environment: .test,
            provider: TestConnector(script).recording(by: recorder),
            router: Shop.self
        )
        for _ in 1...3 { _ = try? await shop.data(at: .tea(id: 1)) }
        try recorder.save()

        let replay = connection(try Recorder(file, mode: .replay))
        let error = await #expect(throws: ApiConnectorError.self) { try await replay.data(at: .tea(id: 1)) }
        #expect(error?.response?.status == 503)
        #expect(try await replay.value(Tea.self, at: .tea(id: 1)) == .green)
        #expect(try await replay.value(Tea.self, at: .tea(id: 1)) == .black)
    }

    @Test func saysHowToRecordAMissingRequest() async throws {
        let recorder = try Recorder(file, mode: .record)
        try await recorder.saving { try await connection(recorder) { _ in .json(Tea.green) }.send(at: .tea(id: 1)) }

        let replaying = try Recorder(file, mode: .replay)
        let replay = connection(replaying)
        let error = await #expect(throws: ApiConnectorError.self) { try await replay.data(at: .tea(id: 2)) }
        #expect(error?.kind == .unmatched)
        #expect(
            error?.detail == """
                shop.har has no answer to this request. The nearest is GET https://shop.example.com/teas/1
                     path: "/teas/1" was expected, but "/teas/2" was sent
                  To record it, run the test once with APICONNECTOR_RECORDING=missing in its environment, or with \
                APICONNECTOR_RECORDING=record to record everything again; if the recorder has a mode in code, use \
                .recordMissing or .record there
                """
        )
        try await replay.send(at: .tea(id: 1))
        let again = await #expect(throws: ApiConnectorError.self) { try await replay.data(at: .tea(id: 1)) }
        #expect(
            again?.detail == """
                shop.har has one answer to this request, already used; to record it, run the test once with \
                APICONNECTOR_RECORDING=missing in its environment, or with APICONNECTOR_RECORDING=record to record \
                everything again; if the recorder has a mode in code, use .recordMissing or .record there
                """
        )
        #expect(replaying.issues.map(\.kind) == [.unmatched, .unmatched])
    }

    @Test func saysHowToRecordAMissingFile() {
        let error = #expect(throws: FixtureError.self) { try Recorder(file, mode: .replay) }
        #expect(
            error?.description == """
                there is no recording shop.har; to record it, run the test once with APICONNECTOR_RECORDING=missing in \
                its environment, or with APICONNECTOR_RECORDING=record to record everything again; if the recorder \
                has a mode in code, use .recordMissing or .record there
                """
        )
    }

    @Test func saysThatAReplayCannotRecordAMissingRequest() async throws {
        let recorder = try Recorder(file, mode: .record)
        try await recorder.saving { try await connection(recorder) { _ in .json(Tea.green) }.send(at: .tea(id: 1)) }

        let replay = NetworkConnector(
            environment: .test,
            provider: TestConnector(try Replay(contentsOf: file)),
            router: Shop.self
        )
        try await replay.send(at: .tea(id: 1))
        let error = await #expect(throws: ApiConnectorError.self) { try await replay.data(at: .tea(id: 1)) }
        #expect(
            error?.detail == """
                shop.har has one answer to this request, already used; to record it, which a Replay cannot do, use \
                recording(by:) with a Recorder of this file in mode .recordMissing, or export the file again
                """
        )
    }

    @Test func sendsOnlyMissingRequestsAndAddsThem() async throws {
        let first = try Recorder(file, mode: .recordMissing)
        try await first.saving { try await connection(first) { _ in .json(Tea.green) }.send(at: .tea(id: 1)) }

        let second = try Recorder(file, mode: .recordMissing)
        let shop = connection(second) { _ in .json(Tea.black) }
        #expect(try await shop.value(Tea.self, at: .tea(id: 1)) == .green)
        #expect(try await shop.value(Tea.self, at: .tea(id: 2)) == .black)
        try second.save()

        let replay = connection(try Recorder(file, mode: .replay))
        #expect(try await replay.value(Tea.self, at: .tea(id: 2)) == .black)
        #expect(try await replay.value(Tea.self, at: .tea(id: 1)) == .green)
        #expect(try Recording(contentsOf: file).requests.map { $0.url.path() } == ["/teas/1", "/teas/2"])
    }

    @Test func aBodyThatCanBeReadOnceIsComparedAndSent() async throws {
        let first = try Recorder(file, mode: .record)
        try await first.saving { try await connection(first) { _ in .json(Tea.green) }.send(at: .tea(id: 1)) }

        let second = try Recorder(file, mode: .recordMissing)
        let body = RequestBody.stream(isReplayable: false) { ChunkList(chunks: [Data("one".utf8), Data("two".utf8)]) }
        let request = ApiRequest(url: try #require(URL(string: "http://h/")), method: .post, body: body)
        let provider = TestConnector { .data(try $0.body.data()) }.recording(by: second)
        let answer = try await provider.response(for: request).body.collect(upTo: .max)
        #expect(answer == Data("onetwo".utf8))
        try second.save()
    }

    @Test func savesNothingIfTheClosureThrows() async throws {
        let recorder = try Recorder(file, mode: .record)
        await #expect(throws: CancellationError.self) {
            try await recorder.saving {
                try await connection(recorder) { _ in .json(Tea.green) }.send(at: .tea(id: 1))
                throw CancellationError()
            }
        }
        #expect(folder.names == [])
        // Not later either.
        try recorder.save()
        try await recorder.saving {}
        #expect(folder.names == [])
    }

    @Test(arguments: ["Record", "recordMissing", "1", ""]) func refusesAnUnknownMode(_ word: String) throws {
        let error = #expect(throws: FixtureError.self) {
            try RecordingMode.checkEnvironment([RecordingMode.variable: word])
        }
        #expect(
            error?.description
                == "APICONNECTOR_RECORDING is \(word.debugDescription); it must be replay, record or missing"
        )
        try RecordingMode.checkEnvironment([RecordingMode.variable: "missing"])
        try RecordingMode.checkEnvironment([:])
    }

    @Test func keepsTheFileIfNothingWasSent() async throws {
        try Data("kept".utf8).write(to: file)
        try await Recorder(file, mode: .record).saving {}
        #expect(folder.data("shop.har") == Data("kept".utf8))
    }

    @Test func matchesInAnyOrderOfKeysAndQueryItems() async throws {
        let recorder = try Recorder(file, mode: .record)
        let recorded = TestConnector { _ in .status(201) }.recording(by: recorder)
        func request(_ query: String, _ json: String) throws -> ApiRequest {
            ApiRequest(
                url: try #require(URL(string: "https://shop.example.com/teas?\(query)")),
                method: .post,
                headers: ["Content-Type": "application/json"],
                body: .text(json, mediaType: .json)
            )
        }
        _ = try await recorded.response(for: request("a=1&b=2", #"{"id":1,"name":"green"}"#))
        try recorder.save()

        let replay = TestConnector(try Replay(contentsOf: file))
        let other = await #expect(throws: ApiConnectorError.self) {
            try await replay.response(for: request("a=1&b=3", #"{"id":1,"name":"green"}"#))
        }
        #expect(other?.detail.contains("query item b: \"2\" was expected, but \"3\" was sent") == true)
        #expect(try await replay.response(for: request("b=2&a=1", #"{"name":"green", "id":1}"#)).status == 201)
    }

    @Test func aFormsBoundaryMayDiffer() async throws {
        let recorder = try Recorder(file, mode: .record)
        func request(_ text: String) throws -> ApiRequest {
            let body = RequestBody.multipart([.text(text, name: "note")])
            var request = ApiRequest(url: try #require(URL(string: "http://h/")), method: .post, body: body)
            request.headers[.contentType] = body.mediaType?.description
            return request
        }
        _ = try await TestConnector { _ in .status(201) }.recording(by: recorder).response(for: request("tea"))
        try recorder.save()

        let replay = TestConnector(try Replay(contentsOf: file))
        await #expect(throws: ApiConnectorError.self) { try await replay.response(for: request("coffee")) }
        #expect(try await replay.response(for: request("tea")).status == 201)
    }

    @Test func concurrentRequestsGetOneAnswerEach() async throws {
        let recorder = try Recorder(file, mode: .record)
        let shop = connection(recorder) { request in
            .json(["path": request.url.path()], headers: ["X-Number": "1"])
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for id in 1...50 {
                for _ in 1...4 { group.addTask { try await shop.send(at: .tea(id: id)) } }
            }
            try await group.waitForAll()
        }
        try recorder.save()

        let replaying = try Recorder(file, mode: .replay)
        let replay = connection(replaying)
        let paths = try await withThrowingTaskGroup(of: (Int, String).self) { group in
            for id in 1...50 {
                for _ in 1...4 {
                    group.addTask {
                        (id, try await replay.value([String: String].self, at: .tea(id: id))["path"] ?? "")
                    }
                }
            }
            return try await group.reduce(into: [:]) { $0[$1.0, default: []].append($1.1) }
        }
        #expect(paths.count == 50)
        for (id, seen) in paths { #expect(seen == Array(repeating: "/teas/\(id)", count: 4)) }
        #expect(replaying.issues.isEmpty)
    }
}

/// Chunks that are all there.
private struct ChunkList: AsyncSequence {
    struct AsyncIterator: AsyncIteratorProtocol {
        var chunks: ArraySlice<Data>

        mutating func next() async -> Data? { chunks.popFirst() }
    }

    let chunks: [Data]

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(chunks: chunks[...]) }
}
