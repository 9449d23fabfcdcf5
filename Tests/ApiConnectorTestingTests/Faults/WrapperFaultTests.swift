// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Testing

@testable import ApiConnectorTesting

/// Every wrapper that there is, with every single fault in every exchange.
@Suite(.timeLimit(.minutes(5))) struct WrapperFaultTests {
    private static func shop(
        _ run: FaultRun,
        _ provider: some DataRequestType,
        timeouts: Timeouts = Timeouts()
    ) -> NetworkConnector<AnyProvider, Shop> {
        NetworkConnector(
            environment: .test,
            provider: AnyProvider(provider),
            configuration: ConnectionConfiguration(timeouts: timeouts, timeSource: run.timeSource)
        )
    }

    /// What retries do not mend: what is not HTTP, and bytes that are no JSON.
    private static func isFinal(_ run: FaultRun) -> Bool {
        switch run.fault?.effect {
        case nil: false
        case .malformed: true
        case .garbage: true
        default: false
        }
    }

    private static func kind(_ body: () async throws(ApiConnectorError) -> Void) async -> ApiConnectorError.Kind? {
        do throws(ApiConnectorError) {
            try await body()
            return nil
        } catch {
            return error.kind
        }
    }

    // MARK: - Collected

    @Test(arguments: ["retrying", "standard", "headers", "rewriting", "observed", "timeLimited", "traced"])
    func aGETWithRetriesSurvivesWhatPasses(_ name: String) async throws {
        try await everySingleFault { run in
            let injected = TestConnector { _ in .json(Tea.green) }.injecting(run)
            let log = EventCounts()
            let provider: AnyProvider =
                switch name {
                case "retrying": AnyProvider(injected.retrying())
                case "headers": AnyProvider(injected.headers(["X-Tea": "1"]).retrying())
                case "rewriting": AnyProvider(injected.rewriting { $0.headers["X-Tea"] = "1" }.retrying())
                case "traced": AnyProvider(injected.traced().retrying())
                case "observed": AnyProvider(injected.retrying().observed(by: log))
                case "timeLimited":
                    AnyProvider(injected.timeLimited(attempt: .seconds(5), stall: .seconds(3)).retrying())
                default: AnyProvider(injected.standard(observedBy: log))
                }
            let shop = Self.shop(run, provider, timeouts: name == "timeLimited" ? .unlimited : Timeouts())
            let kind = await Self.kind { () async throws(ApiConnectorError) in
                let tea = try await shop.value(Tea.self, at: .tea(id: 1))
                #expect(tea == .green, "\(run)")
            }
            switch run.fault.map({ ($0.effect, $0.place) }) {
            case (.malformed, _)?, (.garbage, .beforeSending)?, (.garbage, .head)?:
                #expect(kind == .malformedResponse, "\(run)")
            case (.garbage, _)?: #expect(kind == .decodingFailed, "\(run)")
            default: #expect(kind == nil, "\(run)")
            }
            log.expectPairs(run)
        }
    }

    @Test func whatBrokeWhileItWasRecordedBreaksTheSameWayWhenItIsReplayed() async throws {
        let folder = try TemporaryFolder()
        let faults = ["refused@send", "reset@head", "truncated@3", "malformed@head", "503@send", "garbage@0"]
        try await everySingleFault(of: .only(try faults.map { try #require(Fault($0)) })) { run in
            let recorder = try Recorder(folder.file("\(folder.names.count).har"), mode: .record)
            let provider = TestConnector { _ in .json(Tea.green) }.injecting(run).recorded(by: recorder)
            let recorded = await Self.kind { () async throws(ApiConnectorError) in
                _ = try await Self.shop(run, provider).value(Tea.self, at: .tea(id: 1))
            }
            #expect((recorded == nil) == (run.fault == nil), "\(run)")
            try recorder.save()
            let replay = TestConnector(try Replay(contentsOf: recorder.file))
            let replayed = await Self.kind { () async throws(ApiConnectorError) in
                _ = try await Self.shop(run, replay).value(Tea.self, at: .tea(id: 1))
            }
            #expect(replayed == recorded, "\(run)")
        }
        #expect(folder.names.count == faults.count + 1)
    }

    @Test func aPOSTIsNeverDoneTwice() async throws {
        try await everySingleFault { run in
            let doneCount = Locked(0)
            let provider = TestConnector { _ in
                doneCount.withLock { $0 += 1 }
                return .json(Tea.green)
            }.injecting(run).standard()
            let kind = await Self.kind { () async throws(ApiConnectorError) in
                _ = try await Self.shop(run, provider).value(Tea.self, at: .add(.green))
            }
            let done = doneCount.withLock { $0 }
            #expect(done <= 1 && (kind != nil || done == 1), "\(run)")
            // Nothing was sent, for sure: it may be sent again, and is.
            if run.fault?.effect == .refused || run.fault == Fault(.timeout, at: .beforeSending) {
                #expect(kind == nil, "\(run)")
            }
        }
    }

    @Test func aPOSTWithAnIdempotencyKeyIsDoneOnceByAServerThatKnowsIt() async throws {
        try await everySingleFault(of: .transient) { run in
            let keys = Locked<Set<String>>([])
            let policy = RetryPolicy(idempotencyKey: RetryPolicy.randomKey)
            let provider = TestConnector { request in
                keys.withLock { _ = $0.insert(request.headers[.idempotencyKey] ?? "") }
                return .json(Tea.green)
            }.injecting(run).retrying(policy)
            let tea = try await Self.shop(run, provider).value(Tea.self, at: .add(.green))
            #expect(tea == .green, "\(run)")
            #expect(keys.withLock { $0.count } == 1, "\(run)")
        }
    }

    @Test(arguments: [false, true])
    func aRefreshThatFailsLeavesTheNextCallAlone(_ retries: Bool) async throws {
        try await everySingleFault { run in
            let server = TestConnector { request in
                if request.url.path() == "/login" { return .json(["token": "new"]) }
                return request.headers[.authorization] == "Bearer new" ? .json(Tea.green) : .status(401)
            }.injecting(run)
            let transport = retries ? AnyProvider(server.retrying()) : AnyProvider(server)
            let accounts = Self.shop(run, transport)
            let session = RefreshableCredentials(.bearer("old"), timeSource: run.timeSource) { _ in
                .bearer(try await accounts.value([String: String].self, at: .login(password: "x"))["token"] ?? "")
            }
            let shop = Self.shop(run, transport.authenticated(by: session))
            var failures: [ApiConnectorError.Kind] = []
            for id in 1...3 {
                let kind = await Self.kind { () async throws(ApiConnectorError) in
                    let tea = try await shop.value(Tea.self, at: .tea(id: id))
                    #expect(tea == .green, "\(run)")
                }
                if let kind { failures.append(kind) }
            }
            // The call that the fault befell, at the most.
            #expect(failures.count <= (run.fault == nil ? 0 : 1), "\(run): \(failures)")
        }
    }

    @Test func redirectsAreFollowedOrFail() async throws {
        try await everySingleFault { run in
            let provider = TestConnector { request in
                request.url.path() == "/teas/1"
                    ? .status(307, headers: [.location: "/teas/2"]) : .json(Tea.black)
            }.injecting(run).standard()
            let kind = await Self.kind { () async throws(ApiConnectorError) in
                let tea = try await Self.shop(run, provider).value(Tea.self, at: .tea(id: 1))
                #expect(tea == .black, "\(run)")
            }
            #expect(kind == nil || Self.isFinal(run), "\(run)")
        }
    }

    // MARK: - Streamed

    @Test(arguments: [false, true]) func pagesComeInOrderUpToWhereTheyFail(_ prefetches: Bool) async throws {
        let pages = [[1, 2], [], [3]]
        try await everySingleFault { run in
            let provider = TestConnector { request in
                let page = Int(request.url.query()?.suffix(1) ?? "1") ?? 1
                let link: HTTPHeaders = page < 3 ? ["Link": "</teas?page=\(page + 1)>; rel=next"] : HTTPHeaders()
                return .json(pages[page - 1], headers: link)
            }.injecting(run).retrying()
            let stream = Self.shop(run, provider).pages(of: [Int].self, from: .teas(page: 1), prefetching: prefetches)
            var read: [[Int]] = []
            var kind: ApiConnectorError.Kind?
            do throws(ApiConnectorError) {
                for try await page in stream { read.append(page) }
            } catch {
                kind = error.kind
            }
            #expect(read == Array(pages.prefix(read.count)), "\(run)")
            #expect((kind == nil) == (read.count == 3), "\(run)")
            #expect(kind == nil || Self.isFinal(run), "\(run)")
        }
    }

    @Test func aStreamHandsOutWhatCameBeforeTheFault() async throws {
        let teas = (1...5).map { Tea(id: $0, name: "tea") }
        let lines = try teas.map { String(decoding: try JSONEncoder().encode($0), as: UTF8.self) + "\n" }.joined()
        let log = Locked<[Int]>([])
        try await everySingleFault { run in
            let events = EventCounts()
            let provider = TestConnector { _ in .data(Data(lines.utf8)).chunked(byteCount: 7) }.injecting(run)
                .standard(observedBy: events)
            var read: [Tea] = []
            let kind: ApiConnectorError.Kind?
            do throws(ApiConnectorError) {
                let stream = Self.shop(run, provider).stream(of: Tea.self, at: .teas(page: 1), as: .jsonLines)
                for try await tea in stream { read.append(tea) }
                kind = nil
            } catch {
                kind = error.kind
            }
            #expect(read == Array(teas.prefix(read.count)), "\(run)")
            // At the end all may have been read, and it is an error still.
            #expect(kind != nil || read == teas, "\(run)")
            if run.fault == nil { #expect(kind == nil) }
            log.withLock { $0.append(read.count) }
            events.expectPairs(run)
        }
        // Some break in the middle.
        #expect(Set(log.withLock { $0 }).count > 2)
    }

    @Test func eventsComeOnceAndInOrderOverABreak() async throws {
        try await everySingleFault { run in
            let provider = TestConnector { request in
                let last = Int(request.headers["Last-Event-ID"] ?? "0") ?? 0
                guard last < 6 else { return .status(204) }
                let next = (last + 1...min(last + 3, 6)).map { "id: \($0)\ndata: {\"n\":\($0)}\n\n" }.joined()
                return .data(Data(next.utf8), headers: [.contentType: "text/event-stream"]).chunked(byteCount: 5)
            }.injecting(run).retrying()
            let stream = Self.shop(run, provider).stream(at: .teas(page: 1), as: .events.resuming(ResumePolicy()))
            var ids: [String] = []
            let kind = await Self.kind { () async throws(ApiConnectorError) in
                for try await event in stream { ids.append(event.id) }
            }
            if run.fault?.effect == .garbage {
                // No text is no field, so that an event is lost and nobody can know.
                #expect(kind == nil || kind == .malformedResponse, "\(run)")
            } else {
                #expect(ids == (1...6).prefix(ids.count).map(String.init), "\(run)")
                #expect(kind == nil && ids.count == 6 || Self.isFinal(run), "\(run)")
            }
        }
    }

    @Test func linesGoOnBehindTheLastWholeOneOverABreak() async throws {
        let lines = Data((1...9).map { "\($0)\n" }.joined().utf8)
        try await everySingleFault(of: .standard.without { $0.effect == .garbage }) { run in
            let provider = TestConnector { .ranged(lines, to: $0) }.injecting(run).retrying()
            let stream = Self.shop(run, provider)
                .stream(of: Int.self, at: .teas(page: 1), as: .jsonLines.resuming(ResumePolicy()))
            var read: [Int] = []
            let kind = await Self.kind { () async throws(ApiConnectorError) in
                for try await number in stream { read.append(number) }
            }
            #expect(read == Array((1...9).prefix(read.count)), "\(run)")
            #expect(kind == nil && read.count == 9 || Self.isFinal(run), "\(run), \(String(describing: kind))")
        }
    }

    @Test(arguments: [false, true]) func aFileIsWholeOrNotThereAndALaterRunBringsIt(_ resumes: Bool) async throws {
        let content = Data.counting(by: 3, byteCount: 100)
        // Nobody can tell garbage in a file without knowing the file.
        try await everySingleFault(of: .standard.without { $0.effect == .garbage }) { run in
            let folder = FileManager.default.temporaryDirectory.appending(path: "ApiConnector-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
            defer { try? FileManager.default.removeItem(at: folder) }
            let file = folder.appending(path: "export.bin")
            let shop = Self.shop(run, TestConnector { .ranged(content, to: $0) }.injecting(run))
            let kind = await Self.kind { () async throws(ApiConnectorError) in
                let policy: ResumePolicy? = resumes ? .standard : nil
                _ = try await shop.download(at: .teas(page: 1), to: file, resuming: policy).file()
            }
            #expect((try? Data(contentsOf: file)) == (kind == nil ? content : nil), "\(run)")
            if kind != nil { _ = try await shop.download(at: .teas(page: 1), to: file).file() }
            #expect(try Data(contentsOf: file) == content, "\(run)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path()) == ["export.bin"], "\(run)")
        }
    }
}

/// Counts what an observer is told.
private final class EventCounts: CallObserver {
    private let counts = Locked((started: 0, finished: 0))

    func handle(_ event: CallEvent) {
        switch event.kind {
        case .started: counts.withLock { $0.started += 1 }
        case .finished: counts.withLock { $0.finished += 1 }
        default: break
        }
    }

    func expectPairs(_ run: FaultRun) {
        let counts = counts.withLock { $0 }
        #expect(counts.started == counts.finished, "\(run)")
    }
}

extension TestConnectorResponse {
    /// What a server answers that can do ranges.
    static func ranged(_ content: Data, to request: ApiRequest) -> TestConnectorResponse {
        let start = request.headers[.range].flatMap { Int($0.dropFirst("bytes=".count).dropLast()) }
        var headers: HTTPHeaders = [.etag: "\"v1\""]
        guard let start, request.headers[.ifRange] == "\"v1\"" else {
            headers[.contentLength] = "\(content.count)"
            return .data(content, headers: headers).chunked(byteCount: 10)
        }
        if start >= content.count { return .status(416, headers: ["Content-Range": "bytes */\(content.count)"]) }
        headers[.contentRange] = "bytes \(start)-\(content.count - 1)/\(content.count)"
        headers[.contentLength] = "\(content.count - start)"
        return .data(content.dropFirst(start), status: 206, headers: headers).chunked(byteCount: 10)
    }
}
