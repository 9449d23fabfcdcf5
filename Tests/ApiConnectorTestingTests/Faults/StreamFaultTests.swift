// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorConformance
import ApiConnector
import Testing

@testable import ApiConnectorTesting

/// All calls that deliver their result in pieces, with every single fault in every exchange.
@Suite(.timeLimit(.minutes(10))) struct StreamFaultTests {}

extension StreamFaultTests {
    @Test(arguments: [false, true]) func pagesArriveInOrderUpToTheFailure(_ prefetches: Bool) async throws {
        let pages = [[1, 2], [], [3]]
        try await FaultTest.everySingleFault { run in
            let provider = TestConnector { request in
                let page = Int(request.url.query()?.suffix(1) ?? "1") ?? 1
                let link: HTTPHeaders = page < 3 ? ["Link": "</teas?page=\(page + 1)>; rel=next"] : HTTPHeaders()
                return .json(pages[page - 1], headers: link)
            }.injecting(run).retrying()
            let stream = run.shop(over: provider).pages(of: [Int].self, from: .teas(page: 1), prefetching: prefetches)
            var read: [[Int]] = []
            var kind: ApiConnectorError.Kind?
            do throws(ApiConnectorError) {
                for try await page in stream { read.append(page) }
            } catch {
                kind = error.kind
            }
            #expect(read == Array(pages.prefix(read.count)), "\(run)")
            #expect((kind == nil) == (read.count == 3), "\(run)")
            #expect(kind == nil || run.isFinal, "\(run)")
        }
    }

    @Test func aStreamYieldsTheElementsBeforeTheFault() async throws {
        let teas = (1...5).map { Tea(id: $0, name: "tea") }
        let lines = try teas.map { String(decoding: try JSONEncoder().encode($0), as: UTF8.self) + "\n" }.joined()
        let log = Locked<[Int]>([])
        try await FaultTest.everySingleFault { run in
            let events = EventCounts()
            let provider = TestConnector { _ in .data(Data(lines.utf8)).chunked(byteCount: 7) }.injecting(run)
                .standard(observedBy: events)
            var read: [Tea] = []
            let kind: ApiConnectorError.Kind?
            do throws(ApiConnectorError) {
                let stream = run.shop(over: provider).stream(of: Tea.self, at: .teas(page: 1), as: .jsonLines)
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

    @Test func eventsArriveOnceAndInOrderAcrossAReconnect() async throws {
        try await FaultTest.everySingleFault { run in
            let provider = TestConnector { request in
                let last = Int(request.headers["Last-Event-ID"] ?? "0") ?? 0
                guard last < 6 else { return .status(204) }
                let events = (last + 1...min(last + 3, 6)).map { "id: \($0)\ndata: {\"n\":\($0)}\n\n" }
                return .data(Data(events.joined().utf8), headers: [.contentType: "text/event-stream"]).chunked(
                    byteCount: 5
                )
            }.injecting(run).retrying()
            let stream = run.shop(over: provider).stream(at: .teas(page: 1), as: .events.resuming())
            var ids: [String] = []
            let kind = await ApiConnectorError.kind { () async throws(ApiConnectorError) in
                for try await event in stream { ids.append(event.id) }
            }
            if run.fault?.effect == .garbage {
                // A line without text is not a field, so the reader cannot know that an event is lost.
                #expect(kind == nil || kind == .malformedResponse, "\(run)")
            } else {
                #expect(ids == Array(["1", "2", "3", "4", "5", "6"].prefix(ids.count)), "\(run)")
                #expect(kind == nil && ids.count == 6 || run.isFinal, "\(run)")
            }
        }
    }

    @Test func linesResumeAfterTheLastCompleteLine() async throws {
        let lines = Data((1...9).map { "\($0)\n" }.joined().utf8)
        try await FaultTest.everySingleFault(of: .standard.without { $0.effect == .garbage }) { run in
            let provider = TestConnector { .ranged(lines, to: $0) }.injecting(run).retrying()
            let stream = run.shop(over: provider)
                .stream(of: Int.self, at: .teas(page: 1), as: .jsonLines.resuming())
            var read: [Int] = []
            let kind = await ApiConnectorError.kind { () async throws(ApiConnectorError) in
                for try await number in stream { read.append(number) }
            }
            #expect(read == Array((1...9).prefix(read.count)), "\(run)")
            #expect(kind == nil && read.count == 9 || run.isFinal, "\(run), \(String(describing: kind))")
        }
    }

    @Test(arguments: [false, true]) func aFileIsCompleteOrMissingAndALaterRunCompletesIt(_ resumes: Bool) async throws {
        let content = Data.counting(by: 3, byteCount: 100)
        // A reader that does not know the file cannot recognize garbage in it.
        try await FaultTest.everySingleFault(of: .standard.without { $0.effect == .garbage }) { run in
            let folder = FileManager.default.temporaryDirectory.appending(path: "ApiConnector-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
            defer { try? FileManager.default.removeItem(at: folder) }
            let file = folder.appending(path: "export.bin")
            let shop = run.shop(over: TestConnector { .ranged(content, to: $0) }.injecting(run))
            let kind = await ApiConnectorError.kind { () async throws(ApiConnectorError) in
                let policy: RetryPolicy? = resumes ? .resumption : nil
                _ = try await shop.download(at: .teas(page: 1), to: file, resuming: policy).file()
            }
            #expect((try? Data(contentsOf: file)) == (kind == nil ? content : nil), "\(run)")
            if kind != nil { _ = try await shop.download(at: .teas(page: 1), to: file).file() }
            #expect(try Data(contentsOf: file) == content, "\(run)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path()) == ["export.bin"], "\(run)")
        }
    }
}
