// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnectorRecording
import ApiConnectorTesting
import Testing

@testable import ApiConnector

/// An archive keeps the last exchanges for a limited time, and no secret leaves it.
struct ExchangeArchiveTests {
    private let clock = ManualClock()

    private func request(_ path: String = "/tea", body: RequestBody = .empty) -> ApiRequest {
        var request = ApiRequest(
            url: URL(string: "http://localhost\(path)") ?? URL(filePath: "/"),
            method: body.isEmpty ? .get : .post
        )
        request.body = body
        request.timeSource = clock
        return request
    }

    private func send(_ request: ApiRequest, in archive: ExchangeArchive, _ answer: TestConnectorResponse) async throws
    {
        let clock = clock
        let provider = TestConnector { _ in
            clock.advance(by: .seconds(1))
            return answer
        }
        let response = try await provider.archived(in: archive).response(for: request)
        for try await _ in response.body {}
    }

    // MARK: - Secrets

    /// The archive keeps no multipart form, and no mark of a refresh.
    @Test func knowsTheSecretsOfAMultipartFormAndOfAGrant() async throws {
        let archive = ExchangeArchive()
        let form = RequestBody.multipart([.text("hush4you!", name: "password")])
        try await send(request(body: form), in: archive, .data(Data(#"{"message":"hush4you! is wrong"}"#.utf8)))
        let grant = RequestBody.multipart([.text("refresh_token", name: "grant_type")])
        try await send(request(body: grant), in: archive, .data(Data(#"{"renew":"hush-opaque"}"#.utf8)))
        let har = String(decoding: try archive.har(), as: UTF8.self)
        #expect(har.contains("is wrong") && har.contains("renew"))
        #expect(!har.contains("hush"), "\(har)")
    }

    @Test func knowsASecretAfterTheKeptBytesOfABody() async throws {
        let archive = ExchangeArchive(bodyByteCount: 100)
        let padding = String(repeating: "tea ", count: 5_000)
        let bodies = [
            RequestBody.data(Data(#"{"padding":"\#(padding)","password":"hush4you-long"}"#.utf8), mediaType: .json),
            .data(Data("padding=\(padding.filter { $0 != " " })&password=hush4you-long".utf8), mediaType: .form),
        ]
        for body in bodies {
            let answer = Data(#"{"message":"hush4you-long is wrong"}"#.utf8)
            try await send(request("/confirm/hush4you-long", body: body), in: archive, .data(answer))
        }
        try #require(archive.exchanges.count == 2)
        for exchange in archive.exchanges { #expect(!exchange.curlCommand.contains("hush"), "\(exchange.curlCommand)") }
        let har = String(decoding: try archive.har(), as: UTF8.self)
        #expect(har.contains("is wrong"))
        #expect(!har.contains("hush"), "\(har)")
    }

    /// Names of the archive's redactor, of the request, and of an inner provider.
    @Test(arguments: [0, 1, 2]) func knowsOwnNamesInAMultipartForm(_ way: Int) async throws {
        let archive = ExchangeArchive(redacting: Redactor(bodyFieldNames: way == 0 ? ["brand"] : []))
        var request = request(body: .multipart([.text("hush4you-long", name: "brand")]))
        if way == 1 { request.addSecretNames(queryItemNames: ["brand"]) }
        let provider = TestConnector { _ in .data(Data(#"{"message":"hush4you-long is wrong"}"#.utf8)) }
            .rewriting { if way == 2 { $0.addSecretNames(queryItemNames: ["brand"]) } }
            .archived(in: archive)
        for try await _ in try await provider.response(for: request).body {}
        let har = String(decoding: try archive.har(), as: UTF8.self)
        #expect(har.contains("is wrong"))
        #expect(!har.contains("hush"), "\(har)")
    }

    /// No secret can be found in them.
    @Test func theBytesOfABodyWithAContentCodingAreLeftOut() async throws {
        let archive = ExchangeArchive()
        var request = request(body: .data(Data([0x1F, 0x8B, 8, 0, 0]), mediaType: .json))
        request.headers[.contentEncoding] = "gzip"
        try await send(request, in: archive, .status(204))
        let body = try #require(archive.exchanges.first?.body)
        #expect(body.bytes.isEmpty)
        #expect(body.byteCount == 5)
        #expect(body.isTruncated)
    }

    @Test func aBodyInUTF16ThatHasASecretIsReplaced() async throws {
        let archive = ExchangeArchive()
        let body = try #require(#"{"password":"hush4you-long"}"#.data(using: .utf16LittleEndian))
        try await send(request(body: .data(body, mediaType: .json)), in: archive, .data(body))
        let exchange = try #require(archive.exchanges.first)
        #expect(exchange.body?.bytes == Data("REDACTED".utf8))
        #expect(exchange.responseBody?.bytes == Data("REDACTED".utf8))
        #expect(exchange.curlCommand.contains("REDACTED"))
    }

    @Test func aSecretOfTheBodyIsNotInTheURLOfTheCommand() async throws {
        let archive = ExchangeArchive()
        let body = RequestBody.data(Data(#"{"password":"hush4you-long"}"#.utf8), mediaType: .json)
        try await send(request("/confirm/hush4you-long", body: body), in: archive, .status(204))
        let exchange = try #require(archive.exchanges.first)
        #expect(!exchange.url.contains("hush"))
        #expect(!exchange.curlCommand.contains("hush"), "\(exchange.curlCommand)")
    }

    // MARK: - Bounds

    private struct Curious: Encodable, Sendable {
        let archive: ExchangeArchive

        func encode(to encoder: any Encoder) throws {
            try archive.exchanges.map(\.number).encode(to: encoder)
        }
    }

    @Test func aBodyMayReadTheArchiveWhileItIsEncoded() async throws {
        let archive = ExchangeArchive()
        try await send(request(body: .json(Curious(archive: archive))), in: archive, .status(204))
        #expect(archive.exchanges.map(\.number) == [1])
    }

    /// A body that runs a closure when it is encoded for the first time.
    private struct Busy: Encodable, Sendable {
        let encodings = EventLog<Int>()
        let action: @Sendable () -> Void

        func encode(to encoder: any Encoder) throws {
            if encodings.events.isEmpty { action() }
            encodings.note(1)
            try "busy".encode(to: encoder)
        }
    }

    @Test func anExchangeWhoseBodyIsEncodedDuringTheRemovalIsRemoved() {
        let archive = ExchangeArchive()
        let entry = archive.begin(request(body: .json(Busy { archive.removeAll() })))
        #expect(archive.exchanges.isEmpty)
        #expect(entry.snapshot().isForgotten)
        #expect(archive.begin(request()).number == 1)
        #expect(archive.exchanges.map(\.number) == [1])
    }

    @Test func anExchangeThatWasRemovedDuringItsEncodingReplacesNoOther() {
        let changes = EventLog<Int>()
        let archive = ExchangeArchive(exchangeCount: 1) { changes.note($0) }
        let next = request("/next")
        let busy = Busy {
            archive.removeAll()
            _ = archive.begin(next)
        }
        let entry = archive.begin(request("/removed", body: .json(busy)))
        archive.changed(entry)
        archive.ended(entry, .failed(ApiConnectorError(.connectionLost, "lost")))
        #expect(archive.exchanges.map(\.url) == ["http://localhost/next"])
        #expect(changes.events == [1])
    }

    /// A reader asks for the exchanges after the last one that it has seen.
    @Test func anExchangeWhoseBodyIsEncodedSlowlyIsNotMissed() {
        let archive = ExchangeArchive()
        let seen = EventLog<Int>()
        let quick = request("/quick")
        let body = RequestBody.json(
            Busy {
                _ = archive.begin(quick)
                for exchange in archive.exchanges { seen.note(exchange.number) }
            }
        )
        _ = archive.begin(request("/slow", body: body))
        for exchange in archive.exchanges(after: seen.events.last ?? 0) { seen.note(exchange.number) }
        #expect(seen.events == [1, 2])
        #expect(archive.exchanges.map(\.url) == ["http://localhost/quick", "http://localhost/slow"])
    }

    @Test func theOldestIsForgotten() async throws {
        let archive = ExchangeArchive(exchangeCount: 3)
        for number in 1...5 { try await send(request("/\(number)"), in: archive, .status(204)) }
        #expect(archive.exchanges.map(\.url) == ["http://localhost/3", "http://localhost/4", "http://localhost/5"])
        #expect(archive.exchanges(after: 4).map(\.number) == [5])
        #expect(archive.exchanges(after: 5).isEmpty)
        #expect(archive.exchange(number: 2) == nil)
        #expect(archive.exchange(number: 3)?.number == 3)
        archive.removeAll()
        #expect(archive.exchanges.isEmpty)
        try await send(request("/6"), in: archive, .status(204))
        #expect(archive.exchanges.map(\.number) == [6])
    }

    @Test func keeps100ExchangesByDefault() {
        #expect(ExchangeArchive().exchangeCount == 100)
    }

    @Test func aBodyIsKeptUpToTheLimit() async throws {
        let archive = ExchangeArchive(exchangeCount: 1, bodyByteCount: 4)
        let long = Data(repeating: UInt8(ascii: "x"), count: 100_000)
        try await send(request(body: .data(long)), in: archive, .data(long))
        let exchange = try #require(archive.exchanges.first)
        #expect(exchange.body?.bytes == Data("xxxx".utf8))
        #expect(exchange.body?.byteCount == 100_000)
        #expect(exchange.body?.isTruncated == true)
        #expect(exchange.responseBody?.bytes == Data("xxxx".utf8))
        #expect(exchange.responseBody?.byteCount == 100_000)
        #expect(exchange.responseBody?.isTruncated == true)
    }

    @Test func anEntryHoldsNoMoreThanItsLimit() throws {
        let long = Data(repeating: UInt8(ascii: "x"), count: 1_000_000)
        let entry = ArchiveEntry(request(body: .data(long)), number: 1, bodyByteCount: 10)
        for _ in 0..<10 { entry.append(long) }
        let limit = 10 + Redactor.marginByteCount
        #expect(entry.snapshot().body?.count == limit)
        #expect(entry.snapshot().responseBody.count == limit)
        #expect(entry.snapshot().responseByteCount == 10_000_000)
        entry.dropBodies()
        entry.append(long)
        #expect(entry.snapshot().body == nil)
        #expect(entry.snapshot().responseBody.isEmpty)
    }

    /// The bodies that take the most space in JSON.
    @Test(arguments: [[0x01], [0x22], [0x0A], [0x26], [0xFF], [0x70, 0x69, 0x6E, 0x3D, 0x31, 0x26]] as [[UInt8]])
    func aFileHasAtMostSixBytesForEachByteOfABody(_ unit: [UInt8]) async throws {
        let archive = ExchangeArchive(exchangeCount: 1, bodyByteCount: 6_000)
        // Longer than the part that is shown.
        let body = Data(repeatElement(unit, count: 10_000).joined())
        for mediaType in [MediaType.form, .json] {
            try await send(request(body: .data(body, mediaType: mediaType)), in: archive, .data(body))
            let byteCount = try archive.har().count
            #expect(byteCount <= 2 * 6 * 6_000 + 2_000)
            // The bound is reached.
            if unit == [0x01] { #expect(byteCount > 2 * 6 * 6_000) }
        }
    }

    // MARK: - What it says

    @Test func theTimeOfAnExchangeEndsWithIt() {
        let entry = ArchiveEntry(request(body: .text("green")), number: 1, bodyByteCount: 10)
        // The body is only in the entry's own bytes, which are limited.
        #expect(entry.snapshot().request.body.isEmpty)
        clock.advance(by: .seconds(2))
        #expect(entry.snapshot().elapsed == .seconds(2))
        #expect(entry.end(.answered(204)))
        clock.advance(by: .seconds(2))
        #expect(entry.snapshot().elapsed == .seconds(2))
    }

    @Test func anExchangeHasItsRequestResponseAndTimes() async throws {
        let archive = ExchangeArchive()
        try await send(request(body: .text("green")), in: archive, .data(Data("tea".utf8)))
        let exchange = try #require(archive.exchanges.first)
        #expect(exchange.method == .post)
        #expect(exchange.status == 200)
        #expect(exchange.attempt == 1)
        #expect(exchange.elapsed == .seconds(1))
        #expect(exchange.headTime == .seconds(1))
        #expect(exchange.times?[.responseWait] == .seconds(1))
        #expect(exchange.body?.bytes == Data("green".utf8))
        #expect(exchange.responseBody?.bytes == Data("tea".utf8))
        #expect(exchange.responseBody?.isTruncated == false)
        #expect(exchange.outcome?.isFailure == false)
        #expect(exchange.failure == nil)
        #expect(exchange.curlCommand.contains("--data-raw green"))
    }

    @Test func attemptsAndRedirectHopsBelongToOneCall() async throws {
        let archive = ExchangeArchive()
        let provider = TestConnector { request in
            switch request.url.path() {
            case "/old": .status(302, headers: ["Location": "/new"])
            default: request.attempt == 1 ? .status(503) : .data(Data("tea".utf8))
            }
        }
        .archived(in: archive)
        .retrying(RetryPolicy(maximumAttemptCount: 2, initialDelay: .zero))
        let api = NetworkConnector<AnyProvider, Endpoint<ApiPath>>(
            environment: Place(),
            provider: AnyProvider(provider)
        )
        _ = try await api.response(at: Endpoint("/old"))
        #expect(archive.exchanges.map { $0.status?.rawValue } == [302, 503, 200])
        #expect(archive.exchanges.map(\.attempt) == [1, 1, 2])
        #expect(Set(archive.exchanges.map(\.call)).count == 1)
    }

    @Test func aFailureIsRecorded() async throws {
        let archive = ExchangeArchive()
        let provider = TestConnector { _ in
            throw ApiConnectorError(.connectionLost, "the server's token=abcdefgh is bad")
        }
        _ = try? await provider.archived(in: archive).response(for: request())
        let exchange = try #require(archive.exchanges.first)
        #expect(exchange.failure == "connectionLost: the server's token=REDACTED is bad")
        #expect(exchange.status == nil)
        #expect(exchange.responseBody == nil)
        #expect(exchange.outcome?.isFailure == true)
    }

    @Test func aRunningStreamShowsItsCompleteLines() async throws {
        let archive = ExchangeArchive()
        let provider = TestConnector { _ in .data(Data("one\ntwo".utf8)).chunked(byteCount: 7) }
        var request = request()
        request.delivery = .streamed
        let response = try await provider.archived(in: archive).response(for: request)
        var chunks = response.body.makeAsyncIterator()
        #expect(try await chunks.next() == Data("one\ntwo".utf8))
        let running = try #require(archive.exchanges.first)
        #expect(running.outcome == nil)
        #expect(running.responseBody?.bytes == Data("one\n".utf8))
        #expect(running.responseBody?.isTruncated == true)
        #expect(try await chunks.next() == nil)
        #expect(archive.exchanges.first?.responseBody?.bytes == Data("one\ntwo".utf8))
    }

    @Test func changesAreReported() async throws {
        let changes = Locked<[Int]>([])
        let archive = ExchangeArchive { number in changes.withLock { $0.append(number) } }
        try await send(request(), in: archive, .data(Data("tea".utf8)))
        try await send(request(), in: archive, .status(204))
        // It begins, brings its body if it has one, and ends.
        #expect(changes.withLock { $0 } == [1, 1, 1, 2, 2])
    }

    @Test func withoutAnArchiveTheResponseIsTheTransports() async throws {
        let provider = TestConnector { _ in .data(Data("tea".utf8)) }
        let response = try await provider.archived(in: nil).response(for: request())
        #expect(response.body.collected == Data("tea".utf8))
    }

    // MARK: - Secrets

    @Test func itContainsNoSecret() async throws {
        let secret = "hush-4f2a91c7"
        let archive = ExchangeArchive(bodyByteCount: 60)
        var request = request("/tea/\(secret)?token=\(secret)", body: .json(["password": JSONValue.string(secret)]))
        request.headers[.authorization] = "Bearer \(secret)"
        // The server quotes it, once across the limit of what is shown.
        let body = Data("{\"you\": \"\(secret)\", \"padding\": \"12345678901234567\", \"x\": \"\(secret)\"}".utf8)
        #expect(body.prefix(60).count == 60)
        try await send(
            request,
            in: archive,
            .data(body, headers: ["Set-Cookie": "id=\(secret)", "Content-Type": "application/json"])
        )
        let exchange = try #require(archive.exchanges.first)
        let texts = [
            exchange.url, exchange.headers.description, exchange.responseHeaders.description, exchange.curlCommand,
            String(decoding: exchange.body?.bytes ?? Data(), as: UTF8.self),
            String(decoding: exchange.responseBody?.bytes ?? Data(), as: UTF8.self),
            String(decoding: try archive.har(), as: UTF8.self),
        ]
        for text in texts {
            #expect(!text.contains("hush"), "\(text)")
            #expect(!text.contains(secret.dropFirst(5)), "\(text)")
        }
        #expect(texts[0] == "http://localhost/tea/REDACTED?token=REDACTED")
    }

    @Test func itsRedactorIsUsed() async throws {
        let archive = ExchangeArchive(redacting: Redactor(queryItemNames: ["brand"]))
        try await send(request("/tea?brand=earl"), in: archive, .status(204))
        #expect(archive.exchanges.first?.url == "http://localhost/tea?brand=REDACTED")
    }

    // MARK: - Files

    private func temporaryFile() -> URL {
        FileManager.default.temporaryDirectory.appending(path: "archive-\(UUID().uuidString).har")
    }

    @Test func theFileIsReadByTheRecorder() async throws {
        let archive = ExchangeArchive()
        try await send(request(body: .text("green")), in: archive, .data(Data("tea".utf8)))
        let file = temporaryFile()
        defer { try? FileManager.default.removeItem(at: file) }
        try archive.save(to: file)
        _ = try Recording(contentsOf: file)
        let har = try JSONDecoder().decode(JSONValue.self, from: Data(contentsOf: file))
        let entry = har["log"]["entries"][0]
        #expect(entry["request"]["url"] == "http://localhost/tea")
        #expect(entry["response"]["content"]["text"] == "tea")
        #expect(entry["time"] == 1000)
        #expect(entry["timings"]["wait"] == 1000)
        #expect(entry["timings"]["dns"] == -1)
    }

    @Test func aFailureWritesTheFile() async throws {
        let file = temporaryFile()
        defer { try? FileManager.default.removeItem(at: file) }
        let archive = ExchangeArchive(failureFile: file, timeSource: clock)
        try await send(request("/good"), in: archive, .status(204))
        await archive.flush()
        #expect(!FileManager.default.fileExists(atPath: file.path()))
        for _ in 0..<3 { try await send(request("/bad"), in: archive, .status(500)) }
        await archive.flush()
        let text = String(decoding: try Data(contentsOf: file), as: UTF8.self)
        #expect(text.contains("http://localhost/good"))
        #expect(text.split(separator: "http://localhost/bad").count == 4)
    }

    /// Sends a request that fails, on a clock that stands still.
    private func fail(_ path: String, in archive: ExchangeArchive) async throws {
        let provider = TestConnector { _ in .status(500) }.archived(in: archive)
        for try await _ in try await provider.response(for: request(path)).body {}
    }

    private func failedPaths(in file: URL) throws -> [String] {
        let har = try JSONDecoder().decode(JSONValue.self, from: Data(contentsOf: file))
        guard case .array(let entries) = har["log"]["entries"] else { return [] }
        return entries.compactMap { entry in
            guard case .string(let url) = entry["request"]["url"] else { return nil }
            return String(url.dropFirst("http://localhost".count))
        }
    }

    @Test func failuresWithinTheIntervalAreWrittenTogetherAtItsEnd() async throws {
        let file = temporaryFile()
        defer { try? FileManager.default.removeItem(at: file) }
        let archive = ExchangeArchive(failureFile: file, failureFileInterval: .seconds(4), timeSource: clock)
        try await fail("/1", in: archive)
        await eventually { (try? failedPaths(in: file)) == ["/1"] }
        await archive.flush()
        for path in ["/2", "/3"] { try await fail(path, in: archive) }
        // Only one write is scheduled.
        #expect(try await clock.nextSleep() == .seconds(4))
        #expect(clock.sleeperCount == 1)
        clock.advance(by: .seconds(3))
        #expect(try failedPaths(in: file) == ["/1"])
        clock.advance(by: .seconds(1))
        await eventually { (try? failedPaths(in: file)) == ["/1", "/2", "/3"] }
        await archive.flush()
        // The next interval begins with the end of the second write.
        try await fail("/4", in: archive)
        #expect(try await clock.nextSleep() == .seconds(4))
        await archive.flush()
        #expect(try failedPaths(in: file) == ["/1", "/2", "/3", "/4"])
        clock.advance(by: .seconds(4))
    }

    @Test func aFailureAfterTheIntervalIsWrittenAtOnce() async throws {
        let file = temporaryFile()
        defer { try? FileManager.default.removeItem(at: file) }
        let archive = ExchangeArchive(failureFile: file, failureFileInterval: .seconds(4), timeSource: clock)
        try await fail("/1", in: archive)
        await archive.flush()
        clock.advance(by: .seconds(4))
        try await fail("/2", in: archive)
        await eventually { (try? failedPaths(in: file)) == ["/1", "/2"] }
        #expect(clock.sleeperCount == 0)
    }

    /// A clock that counts and delays each look at it from a thread without a task: the thread that writes the file.
    private final class WatchedClock: TimeSource {
        private let clock: ManualClock
        let gate = Gate()
        let lookCount = Locked(0)

        init(clock: ManualClock) { self.clock = clock }

        var now: Duration {
            if withUnsafeCurrentTask(body: { $0 == nil }) {
                lookCount.withLock { $0 += 1 }
                try? gate.wait()
            }
            return clock.now
        }

        var date: Date { clock.date }

        func sleep(until deadline: Duration) async throws { try await clock.sleep(until: deadline) }

        func schedule(at due: Duration, _ action: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
            clock.schedule(at: due, action)
        }
    }

    /// The threads that run tasks also run the calls.
    @Test func theFileIsWrittenOnItsOwnThread() async throws {
        let file = temporaryFile()
        defer { try? FileManager.default.removeItem(at: file) }
        let watched = WatchedClock(clock: clock)
        watched.gate.open()
        let archive = ExchangeArchive(failureFile: file, timeSource: watched)
        try await fail("/1", in: archive)
        await archive.flush()
        #expect(watched.lookCount.withLock { $0 } > 0)
        #expect(try failedPaths(in: file) == ["/1"])
    }

    @Test func aFlushEndsAfter10SecondsIfTheWriteHangs() async throws {
        let file = temporaryFile()
        defer { try? FileManager.default.removeItem(at: file) }
        let watched = WatchedClock(clock: clock)
        defer { watched.gate.open() }
        let archive = ExchangeArchive(failureFile: file, timeSource: watched)
        try await fail("/1", in: archive)
        let flush = Task { await archive.flush() }
        #expect(try await clock.nextSleep(of: .limit) == .seconds(10))
        clock.advance(by: .seconds(10))
        await flush.value
        let error = archive.failureFileError as? ApiConnectorError
        #expect(error?.kind == .timedOut)
        #expect(error?.detail.hasSuffix("was not written within 10.0 seconds") == true)
        watched.gate.open()
        await archive.flush()
        #expect(archive.failureFileError == nil)
    }

    @Test func aWriteThatFailsHasItsErrorUntilTheNextWrite() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "archive-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let archive = ExchangeArchive(failureFile: folder.appending(path: "failures.har"), timeSource: clock)
        #expect(archive.failureFileError == nil)
        try await fail("/1", in: archive)
        await archive.flush()
        #expect(archive.failureFileError is CocoaError)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try await fail("/2", in: archive)
        await archive.flush()
        #expect(archive.failureFileError == nil)
        #expect(try failedPaths(in: folder.appending(path: "failures.har")) == ["/1", "/2"])
    }
}
