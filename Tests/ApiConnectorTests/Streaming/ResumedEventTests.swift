// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTesting
import Testing

@testable import ApiConnector

@Suite struct ResumedEventTests {
    private typealias Connection = NetworkConnector<AnyProvider, Endpoint<ApiPath>>

    /// One answer of the server, in order.
    private enum Answer: Sendable {
        /// A stream that breaks off in the midst of a chunk.
        case broken(String)
        /// A stream of which only the head comes.
        case beheaded
        /// A stream that ends.
        case ended(String)
        case status(Int, type: String = "text/event-stream")
        /// A stream that is held open.
        case held(String)
    }

    private let clock = ManualClock()
    private let policy = ResumePolicy(maximumAttemptCount: 3, maximumDuration: .seconds(60), random: { 0.5 })

    private func server(_ answers: [Answer]) throws -> LoopbackServer {
        let next = Locked(0)
        return try LoopbackServer { connection in
            guard try connection.readRequest() != nil else { return }
            let number = next.withLock { number in
                defer { number += 1 }
                return number
            }
            guard answers.indices.contains(number) else { return }
            let head =
                "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n"
                + "Transfer-Encoding: chunked\r\n\r\n"
            switch answers[number] {
            case .broken(let text):
                try connection.send(head)
                try connection.sendChunk(text)
                try connection.send("ff\r\n")
                try connection.finishSending()
            case .beheaded:
                try connection.send(head)
                try connection.finishSending()
            case .ended(let text):
                try connection.send(head)
                if !text.isEmpty { try connection.sendChunk(text) }
                try connection.sendChunk("")
                try connection.waitUntilPeerCloses()
            case .status(let status, let type):
                try connection.send("HTTP/1.1 \(status) X\r\nContent-Type: \(type)\r\nConnection: close\r\n")
                try connection.send(status == 204 ? "\r\n" : "Content-Length: 2\r\n\r\n")
                if status != 204 { try connection.send("no") }
                try connection.finishSending()
                try connection.waitUntilPeerCloses()
            case .held(let text):
                try connection.send(head)
                try connection.sendChunk(text)
                try connection.waitUntilPeerCloses()
            }
        }
    }

    private func connection(
        to server: LoopbackServer,
        over wire: Wire,
        overall: Duration? = nil
    ) -> Connection {
        NetworkConnector(
            environment: Place(host: "127.0.0.1", port: server.port),
            provider: wire.transport,
            configuration: ConnectionConfiguration(
                timeouts: Timeouts(stall: nil, overall: overall),
                timeSource: clock
            )
        )
    }

    /// Reads events to the end of the stream, and lets each wait pass.
    private func read<Element: Sendable>(
        _ stream: ResponseStream<Element>,
        waiting count: Int
    ) async throws -> (elements: [Element], waits: [Duration], error: ApiConnectorError?) {
        let waits = Task { [clock] in
            var waits: [Duration] = []
            for _ in 0..<count {
                let wait = try await clock.nextSleep()
                waits.append(wait)
                clock.advance(by: wait)
            }
            return waits
        }
        var elements: [Element] = []
        var failure: ApiConnectorError?
        do throws(ApiConnectorError) {
            for try await element in stream { elements.append(element) }
        } catch {
            failure = error
        }
        waits.cancel()
        return (elements, (try? await waits.value) ?? [], failure)
    }

    @Test(arguments: Wire.sockets)
    func goesOnBehindTheLastEventAfterABreakAndAfterAnEnd(_ wire: Wire) async throws {
        let server = try server([
            .broken("retry: 3000\nid: a\ndata: 1\n\nid: b\ndata: 2\n\nid: c\ndata: 3"),
            .ended("data: 3\n\nid: d\n\n"),
            .ended("id\ndata: 4\n\n"),
            .status(204),
        ])
        let api = connection(to: server, over: wire)
        let found = try await read(
            api.stream(of: Int.self, at: Endpoint("/"), as: .events.resuming(policy)),
            waiting: 3
        )
        #expect(found.error == nil)
        #expect(found.elements == [1, 2, 3, 4])
        // What the server asks for, and half of a second.
        #expect(found.waits == [.milliseconds(3500), .milliseconds(3500), .milliseconds(3500)])
        #expect(server.requests.map { $0.header("Last-Event-ID") } == [nil, "b", "d", nil])
        #expect(server.errors.isEmpty)
    }

    @Test(arguments: Wire.sockets)
    func waitsLongerEachTimeAndGivesUpAfterSoManyAttempts(_ wire: Wire) async throws {
        let server = try server([.ended("id: a\ndata: 1\n\n"), .ended(""), .ended(""), .ended("")])
        let api = connection(to: server, over: wire)
        let found = try await read(
            api.stream(of: ServerSentEvent.self, at: Endpoint("/"), as: .events.resuming(policy)),
            waiting: 3
        )
        #expect(found.elements.map(\.data) == ["1"])
        #expect(found.waits == [.milliseconds(500), .seconds(1), .seconds(2)])
        #expect(found.error?.kind == .connectionLost)
        #expect(found.error?.detail == "the server ended the stream, and 3 attempts to resume it brought nothing")
        #expect(found.error?.request != nil)
        #expect(server.requests.count == 4)
    }

    @Test(arguments: Wire.sockets)
    func goesOnWhereTheFirstConnectionBrokeBehindItsHead(_ wire: Wire) async throws {
        let server = try server([.beheaded, .beheaded, .ended("data: 1\n\n"), .status(204)])
        let api = connection(to: server, over: wire)
        let found = try await read(
            api.stream(of: Int.self, at: Endpoint("/"), as: .events.resuming(policy)),
            waiting: 3
        )
        #expect(found.error == nil)
        #expect(found.elements == [1])
        #expect(found.waits.map { $0 / .milliseconds(500) } == [1, 2, 1])
        #expect(server.requests.count == 4)
    }

    @Test func anyNumberOfConnectionsMayHaveNothingToSay() async throws {
        let quiet = Answer.ended("retry: 59500\n: alive\n\n")
        let server = try server(Array(repeating: quiet, count: 20) + [.ended("data: 1\n\n"), .status(204)])
        let api = connection(to: server, over: .system)
        let policy = ResumePolicy(random: { 0.5 })
        let found = try await read(
            api.stream(of: Int.self, at: Endpoint("/"), as: .events.resuming(policy)),
            waiting: 21
        )
        #expect(found.error == nil)
        #expect(found.elements == [1])
        #expect(found.waits == Array(repeating: .seconds(60), count: 21))
    }

    @Test func countsAnewBehindAConnectionThatLastedLong() async throws {
        let feeds = (0..<8).map { _ in BodyFeed() }
        let asked = (0..<8).map { Gate("request \($0)") }
        let count = Locked(0)
        let provider = TestConnector { _ in
            let number = count.withLock { count in
                defer { count += 1 }
                return count
            }
            asked[number].open()
            return .events(feeds[number])
        }
        let api = NetworkConnector(
            environment: Place(),
            provider: provider,
            router: Endpoint<ApiPath>.self,
            configuration: ConnectionConfiguration(timeouts: .unlimited, timeSource: clock)
        )
        let stream = api.stream(of: Int.self, at: Endpoint("/"), as: .events(until: "9").resuming(policy))
        let loop = Task { () async throws(ApiConnectorError) -> [Int] in
            var numbers: [Int] = []
            for try await number in stream { numbers.append(number) }
            return numbers
        }
        // The first chunk is empty, and taken when the connection is up.
        for number in 0..<7 {
            try await asked[number].opened()
            try await feeds[number].send(Data())
            clock.advance(by: policy.maximumDelay + .seconds(1))
            feeds[number].finish()
            #expect(try await clock.nextSleep() == .milliseconds(500))
            clock.advance(by: .milliseconds(500))
        }
        try await asked[7].opened()
        try await feeds[7].send(Data("data: 1\n\ndata: 9\n\n".utf8))
        #expect(try await loop.value == [1])
    }

    @Test func givesUpWhereTheNextWaitWouldEndTooLate() async throws {
        let server = try server([.ended("retry: 40000\ndata: 1\n\n"), .ended(""), .ended("")])
        let api = connection(to: server, over: .system)
        let found = try await read(
            api.stream(of: Int.self, at: Endpoint("/"), as: .events.resuming(policy)),
            waiting: 1
        )
        #expect(found.elements == [1])
        #expect(found.waits == [.milliseconds(40_500)])
        #expect(found.error?.kind == .connectionLost)
        #expect(server.requests.count == 2)
    }

    @Test func neverWaitsPastTheCallsDeadline() async throws {
        let server = try server([.ended("retry: 3000\ndata: 1\n\n")])
        let api = connection(to: server, over: .system, overall: .seconds(3))
        let stream = api.stream(of: Int.self, at: Endpoint("/"), as: .events.resuming(policy))
        let found = try await read(stream, waiting: 0)
        #expect(found.elements == [1])
        #expect(found.error?.kind == .deadlineExceeded)
        #expect(server.requests.count == 1)
    }

    @Test(arguments: Wire.sockets)
    func countsAttemptsAnewBehindEachEvent(_ wire: Wire) async throws {
        let server = try server([
            .ended("data: 1\n\n"), .broken(""), .ended(""), .broken("data: 2\n\n"), .ended(""), .status(204),
        ])
        let api = connection(to: server, over: wire)
        let found = try await read(
            api.stream(of: Int.self, at: Endpoint("/"), as: .events.resuming(policy)),
            waiting: 5
        )
        #expect(found.error == nil)
        #expect(found.elements == [1, 2])
        #expect(found.waits.map { $0 / .milliseconds(500) } == [1, 2, 4, 1, 2])
    }

    @Test(arguments: [
        (500, "text/event-stream", ApiConnectorError.Kind.unacceptableStatus),
        (200, "text/html", .unacceptableMediaType),
    ])
    func failsAtAnotherAnswer(_ status: Int, _ type: String, _ kind: ApiConnectorError.Kind) async throws {
        let server = try server([.ended("data: 1\n\n"), .status(status, type: type)])
        let api = connection(to: server, over: .system)
        let found = try await read(
            api.stream(of: Int.self, at: Endpoint("/"), as: .events.resuming(policy)),
            waiting: 1
        )
        #expect(found.elements == [1])
        #expect(found.error?.kind == kind)
        #expect(server.requests.count == 2)
    }

    @Test(arguments: [true, false])
    func repeatsNoPostThatMayNotBeSentTwice(_ ends: Bool) async throws {
        let text = "id: a\ndata: 1\n\n"
        let server = try server([ends ? .ended(text) : .broken(text)])
        let api = connection(to: server, over: .system)
        let route = Endpoint<ApiPath>(path: "/", method: .post)
        let found = try await read(api.stream(of: Int.self, at: route, as: .events.resuming(policy)), waiting: 0)
        #expect(found.elements == [1])
        #expect(found.error?.kind == .connectionLost)
        let reason = "; the stream cannot be resumed: a POST without an Idempotency-Key must not be sent twice"
        #expect(found.error?.detail.hasSuffix(reason) == true)
        #expect(found.error?.detail.hasPrefix("the server ended the stream;") == ends)
        #expect(server.requests.count == 1)
    }

    @Test func repeatsAPostByItsKey() async throws {
        let server = try server([.broken("id: a\ndata: 1\n\n"), .status(204)])
        let api = connection(to: server, over: .system)
        let found = try await read(
            api.stream(
                of: Int.self,
                at: Endpoint(path: "/", method: .post),
                as: .events.resuming(policy),
                options: CallOptions(headers: [.idempotencyKey: "k1"])
            ),
            waiting: 1
        )
        #expect(found.error == nil)
        #expect(found.elements == [1])
        #expect(server.requests.map { $0.header("Idempotency-Key") } == ["k1", "k1"])
    }

    @Test func isNotResumedWithoutBeingAskedNorBehindASentinelOrARecordThatDoesNotDecode() async throws {
        let server = try server([
            .ended("data: 1\n\n"), .ended("data: 1\n\ndata: x\n\n"), .ended("data: 1\n\ndata: x\n\n"), .status(204),
        ])
        let api = connection(to: server, over: .system)
        let plain = try await read(api.stream(of: Int.self, at: Endpoint("/"), as: .events), waiting: 0)
        #expect(plain.elements == [1] && plain.error == nil)
        let until = api.stream(of: Int.self, at: Endpoint("/"), as: .events(until: "x").resuming(policy))
        let ended = try await read(until, waiting: 0)
        #expect(ended.elements == [1] && ended.error == nil)
        let broken = try await read(
            api.stream(of: Int.self, at: Endpoint("/"), as: .events.resuming(policy)),
            waiting: 0
        )
        #expect(broken.elements == [1])
        #expect(broken.error?.kind == .decodingFailed)
        let none = try await read(
            api.stream(of: Int.self, at: Endpoint("/"), as: .events.resuming(policy)),
            waiting: 0
        )
        #expect(none.elements.isEmpty && none.error == nil)
        #expect(server.requests.count == 4)
    }

    @Test func doesNotRepeatAFirstRequestThatFails() async throws {
        let server = try server([])
        let port = server.port
        server.stop()
        try await server.threadsEnded()
        let api = NetworkConnector(
            environment: Place(host: "127.0.0.1", port: port),
            provider: SystemProvider(),
            router: Endpoint<ApiPath>.self,
            configuration: ConnectionConfiguration(timeouts: .unlimited, timeSource: clock)
        )
        let found = try await read(
            api.stream(of: Int.self, at: Endpoint("/"), as: .events.resuming(policy)),
            waiting: 0
        )
        #expect(found.error?.kind == .cannotConnect)
    }

    @Test(arguments: Wire.sockets)
    func isCancelledWhileItWaits(_ wire: Wire) async throws {
        let server = try server([.ended("data: 1\n\n")])
        let api = connection(to: server, over: wire)
        let loop = Task { () async throws(ApiConnectorError) -> [Int] in
            for try await _ in api.stream(of: Int.self, at: Endpoint("/"), as: .events.resuming(policy)) {}
            return []
        }
        #expect(try await clock.nextSleep() == .milliseconds(500))
        loop.cancel()
        let result = await loop.result
        let error = try #require(throws: ApiConnectorError.self) { try result.get() }
        #expect(error.kind == .cancelled)
        #expect(clock.sleeperCount == 0)
    }

    @Test func closesTheResumedConnectionWhenTheLoopIsLeft() async throws {
        let server = try server([.ended("data: 1\n\n"), .held("data: 2\n\n")])
        let api = connection(to: server, over: .system)
        let waiting = Task { [clock] in clock.advance(by: try await clock.nextSleep()) }
        for try await number in api.stream(of: Int.self, at: Endpoint("/"), as: .events.resuming(policy)) {
            if number == 2 { break }
        }
        try await waiting.value
        try await server.connectionEnded(1)
    }

    @Test func waitsAtMostTheLongestDelayBeyondWhatTheServerAsks() {
        let policy = ResumePolicy(initialDelay: .seconds(1), maximumDelay: .seconds(10), random: { 1 })
        let waits = [1, 2, 4, 5, 6, 1000].map { policy.delay(before: $0, asked: .seconds(3)) }
        #expect(waits == [4, 5, 11, 13, 13, 13].map { .seconds($0) })
        let endless = ResumePolicy(
            initialDelay: .seconds(Int64.max),
            maximumDelay: .seconds(Int64.max),
            random: { 0.5 }
        )
        #expect(endless.delay(before: .max, asked: .milliseconds(Int64.max)) > .seconds(Int64.max / 2))
        for _ in 0..<100 { #expect((0..<1).contains(ResumePolicy.standard.random())) }
    }
}
