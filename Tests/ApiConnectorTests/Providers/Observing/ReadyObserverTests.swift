// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnectorTesting
import Testing

@testable import ApiConnector

/// The observers that come with the library.
struct ReadyObserverTests {
    private let clock = ManualClock()
    private let lines = EventLog<String>()

    private func connection(
        _ observer: some CallObserver,
        _ answer: @escaping @Sendable (ApiRequest) async throws -> TestConnectorResponse
    ) -> NetworkConnector<AnyProvider, Router> {
        TestConnector(answer).observing(by: observer, timeSource: clock, random: { 10 }).connected(on: clock)
    }

    private func log(from level: CallLog.Level = .info) -> CallLog {
        CallLog(from: level) { [lines] level, line in lines.note("\(level): \(line)") }
    }

    private static let call = "call 000000000000000a000000000000000a"

    @Test func theLogHasOneLinePerCall() async throws {
        let api = connection(log()) { [clock] _ in
            clock.advance(by: .microseconds(12_345))
            return .data(Data("hello".utf8))
        }
        try await api.send(at: .me)
        #expect(lines.events == ["info: GET http://localhost/me 200 OK, 5 bytes in 12.3 ms (me, \(Self.call))"])
    }

    @Test(
        arguments: [
            (204, "info: GET http://localhost/me 204 No Content, 0 bytes in 0.0 ms"),
            (404, "warning: GET http://localhost/me 404 Not Found, 0 bytes in 0.0 ms"),
            (500, "error: GET http://localhost/me 500 Internal Server Error, 0 bytes in 0.0 ms"),
        ] as [(HTTPStatus, String)]
    )
    func theLevelDependsOnTheStatus(status: HTTPStatus, line: String) async throws {
        _ = try? await connection(log()) { _ in .status(status) }.data(at: .me)
        #expect(lines.events == ["\(line) (me, \(Self.call))"])
    }

    @Test func aFailureIsAnErrorInOneLine() async throws {
        let api = connection(log()) { _ in throw ApiConnectorError(.other, "line one\nline two") }
        _ = try? await api.data(at: .me)
        #expect(
            lines.events == [
                "error: GET http://localhost/me failed (other): line one line two in 0.0 ms (me, \(Self.call))"
            ]
        )
    }

    @Test func linesBelowTheLevelAreNotWritten() async throws {
        try await connection(log(from: .warning)) { _ in .status(200) }.send(at: .me)
        #expect(lines.events.isEmpty)
    }

    @Test func decisionsAreLoggedAtDebugLevel() async throws {
        let api = connection(log(from: .debug)) { request in
            request.url.path() == "/me" ? .status(302, headers: [.location: "/you?token=hush"]) : .status(200)
        }
        try await api.send(at: .me)
        #expect(lines.events.count == 3)
        #expect(lines.events[1].hasPrefix("debug: GET http://localhost/me redirected to "))
        #expect(lines.events[1].contains("http://localhost/you?token=REDACTED"))
    }

    @Test func onlyAFailedCallIsWrittenAsCurl() async throws {
        let curl = CallLog.curlOfFailedCalls { [lines] in lines.note($0) }
        let api = connection(curl) { request in
            switch request.headers["X-Case"] {
            case "fine": .status(200)
            case "gone": .status(410)
            default: throw URLError(.cannotConnectToHost)
            }
        }
        for name in ["fine", "gone", "down"] {
            let headers: HTTPHeaders = ["X-Case": name, .authorization: "Bearer hush"]
            _ = try? await api.data(at: .me, options: CallOptions(headers: headers))
        }
        #expect(lines.events.count == 2)
        #expect(lines.events[0].contains("'X-Case: gone'"))
        #expect(lines.events[1].contains("'X-Case: down'"))
        for text in lines.events { #expect(text.contains("REDACTED") && !text.contains("hush")) }
    }

    @Test func callsAreCountedByMethodRouteAndOutcome() async throws {
        let metrics = CallMetrics()
        let steps: [Duration] = [.milliseconds(5), .milliseconds(6), .seconds(11)]
        let next = Locked(steps[...])
        let api = connection(metrics) { [clock] request in
            clock.advance(by: next.withLock { $0.popFirst() ?? .zero })
            if request.method == .post { throw URLError(.timedOut) }
            return .data(Data("hello".utf8))
        }
        for _ in 0..<3 { try await api.send(at: .me) }
        _ = try? await api.data(at: .auth)

        let snapshot = metrics.snapshot
        #expect(snapshot.count == 2)
        let reads = try #require(snapshot[CallMetrics.Label(method: "GET", route: "me", outcome: "2xx")])
        #expect(reads.callCount == 3)
        #expect(reads.attemptCount == 3)
        #expect(reads.byteCount == 15)
        #expect(reads.elapsed == .milliseconds(11_011))
        #expect(reads.histogram == [1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1])
        #expect(snapshot[CallMetrics.Label(method: "POST", route: "auth", outcome: "timedOut")]?.callCount == 1)
    }

    @Test func labelsAreBounded() async throws {
        let metrics = CallMetrics(maximumLabelCount: 3)
        let provider = TestConnector { _ in .status(200) }.observing(by: metrics)
        let url = try #require(URL(string: "http://localhost/"))
        for number in 0..<10 {
            _ = try await provider.response(for: ApiRequest(url: url, method: HTTPMethod(rawValue: "M\(number)")))
        }
        #expect(metrics.snapshot.count == 4)
        #expect(metrics.snapshot[.other]?.callCount == 7)
    }

    /// An observer whose every text would be dropped.
    private struct Idle: CallObserver {
        let isListening: Bool
        let lines: EventLog<String>

        func handle(_ event: CallEvent) { lines.note("\(event.kind)") }
    }

    @Test(arguments: [false, true]) func anObserverThatDoesNotListenCostsNoEvents(isListening: Bool) async throws {
        let seen = Locked<[Bool]>([])
        let transport = TestConnector { request in
            seen.withLock { $0.append(request.events != nil) }
            return .status(200)
        }
        let url = try #require(URL(string: "http://localhost/"))
        let idle = Idle(isListening: isListening, lines: lines)
        _ = try await transport.observing(by: idle).response(for: ApiRequest(url: url))
        let buffered = BufferedObserver(idle, limit: 8, timeSource: clock)
        #expect(buffered.isListening == isListening)
        _ = try await transport.observing(by: buffered).response(for: ApiRequest(url: url))
        #expect(await buffered.flush())
        #expect(seen.withLock { $0 } == [isListening, isListening])
        #expect(lines.events.isEmpty != isListening)
    }

    @Test func aBufferedObserverDelaysNoCallAndCountsDroppedEvents() async throws {
        struct Stuck: CallObserver {
            let gate: Gate
            let lines: EventLog<String>
            let semaphore = DispatchSemaphore(value: 0)
            func handle(_ event: CallEvent) {
                if !gate.isOpen { semaphore.wait() }
                lines.note("\(event.kind)")
            }
        }
        let stuck = Stuck(gate: Gate(), lines: lines)
        let buffered = stuck.buffered(eventCount: 4)
        let api = connection(buffered) { _ in .status(204) }
        for _ in 0..<10 { try await api.send(at: .me) }
        #expect(buffered.droppedCount == 26)
        stuck.gate.open()
        stuck.semaphore.signal()
        #expect(await buffered.flush())
        #expect(lines.events.count == 4)
        #expect(lines.events.first == "started")
        try await api.send(at: .me)
        #expect(await buffered.flush())
        #expect(lines.events.count == 7)
    }
}
