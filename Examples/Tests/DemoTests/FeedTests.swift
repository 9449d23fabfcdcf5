// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Backends
import DemoServer
import Foundation
import Synchronization
import Testing
import Walkthrough

/// A feed whose server disconnects: how the demo shows it, and how a user tests it.
struct FeedTests {
    @Test func resumesAfterTheLastEventEachTimeTheServerHangsUp() async throws {
        let lines = SharedLines()
        let isWhole = try await DemoServer.run { url in
            let location = try #require(ServerLocation(url))
            return try await FeedShow(write: lines.append)
                .run(.feed(on: location), over: SystemProvider(), millisecondsApart: 0)
        }
        #expect(isWhole)
        let expected = [
            "  → GET /feed/comments",
            "      1  ada     Is the kettle on?",
            "      2  ted     It has been on since noon.",
            "      3  max     Snores.",
            "  → GET /feed/comments, resumes after event 3",
            "      4  ada     Then why is there no tea?",
            "      5  grace   Because of a moth in relay 70.",
            "      6  ted     Not again.",
            "  → GET /feed/comments, resumes after event 6",
            "      7  ada     Did you write it down?",
            "      8  grace   First actual case.",
            "      9  max     Ate it.",
            "  → GET /feed/comments, resumes after event 9",
            "  ← 204, no more events",
            "",
            "9 events, each once and in order",
        ]
        #expect(lines.all == expected)
    }

    @Test func waitsAsLongAsTheServerAsksBeforeItComesBack() async throws {
        let clock = ManualClock()
        let provider = TestConnector { request in
            let next = Int(request.headers["Last-Event-ID"] ?? "0").map { $0 + 1 } ?? 1
            guard next < 3 else { return .status(204) }
            let text = "retry: 3000\nid: \(next)\ndata: {\"author\":\"ada\",\"text\":\"\(next)\"}\n\n"
            return .data(Data(text.utf8), headers: ["Content-Type": "text/event-stream"])
        }
        let waits = Task {
            var waits: [Duration] = []
            for _ in 0..<2 {
                waits.append(try await clock.nextSleep())
                clock.advance(by: .seconds(10))
            }
            return waits
        }
        let show = FeedShow(write: { _ in })
        let environment = BackendEnvironment.feed(on: ServerLocation(host: "127.0.0.1", port: 1))
        #expect(try await show.run(environment, over: provider, millisecondsApart: 0, timeSource: clock))
        let asked = try await waits.value
        #expect(asked.count == 2)
        for wait in asked { #expect((.milliseconds(3000)..<(.milliseconds(3500))).contains(wait)) }
    }

    @Test func saysWhenAnEventIsMissing() async throws {
        let lines = SharedLines()
        let provider = TestConnector { request in
            if request.headers["Last-Event-ID"] != nil { return .status(204) }
            return .data(Data("id: 2\ndata: x\n\n".utf8), headers: ["Content-Type": "text/event-stream"])
        }
        let clock = ManualClock()
        let waiting = Task { clock.advance(by: try await clock.nextSleep()) }
        let environment = BackendEnvironment.feed(on: ServerLocation(host: "127.0.0.1", port: 1))
        let isWhole = try await FeedShow(write: lines.append)
            .run(environment, over: provider, millisecondsApart: 0, timeSource: clock)
        try await waiting.value
        #expect(!isWhole)
        #expect(lines.all.last == "1 events, but not 1 to 1: [\"2\"]")
    }
}

/// Collects written text from any task.
private final class SharedLines: Sendable {
    private let lines = Mutex<[String]>([])

    var all: [String] { lines.withLock { $0 } }

    @Sendable
    func append(_ line: String) {
        lines.withLock { $0.append(line) }
    }
}
