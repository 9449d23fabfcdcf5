// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnectorTesting
import Testing

@testable import ApiConnector

/// How long a stream of events waits before it is resumed, and how often it is.
struct ResumeWaitTests {
    private let host = EventHost()

    @Test(arguments: Wire.sockets)
    func waitsLongerEachTimeAndGivesUpAtTheAttemptLimit(_ wire: Wire) async throws {
        let server = try host.server([.ended("id: a\ndata: 1\n\n"), .ended(""), .ended(""), .ended("")])
        let api = host.connection(to: server, over: wire)
        let found = try await host.read(
            api.stream(of: ServerSentEvent.self, at: Endpoint("/"), as: .events.resuming(host.policy)),
            waiting: 3
        )
        #expect(found.elements.map(\.data) == ["1"])
        #expect(found.waits == [.milliseconds(500), .seconds(1), .seconds(2)])
        #expect(found.error?.kind == .connectionLost)
        #expect(found.error?.detail == "the server ended the stream")
        #expect(found.error?.earlierAttempts.map(\.wait) == found.waits)
        #expect(found.error?.retryStop == .attemptLimit)
        #expect(found.error?.request != nil)
        #expect(server.requests.count == 4)
    }

    @Test(arguments: Wire.sockets)
    func restartsTheCountOfAttemptsAfterEachEvent(_ wire: Wire) async throws {
        let server = try host.server([
            .ended("data: 1\n\n"), .broken(""), .ended(""), .broken("data: 2\n\n"), .ended(""), .status(204),
        ])
        let api = host.connection(to: server, over: wire)
        let found = try await host.read(
            api.stream(of: Int.self, at: Endpoint("/"), as: .events.resuming(host.policy)),
            waiting: 5
        )
        #expect(found.error == nil)
        #expect(found.elements == [1, 2])
        #expect(found.waits.map { $0 / .milliseconds(500) } == [1, 2, 4, 1, 2])
    }

    @Test func restartsTheCountAfterALongConnection() async throws {
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
            configuration: ConnectionConfiguration(timeouts: .unlimited, timeSource: host.clock)
        )
        let stream = api.stream(of: Int.self, at: Endpoint("/"), as: .events(until: "9").resuming(host.policy))
        let loop = Task { () async throws(ApiConnectorError) -> [Int] in
            var numbers: [Int] = []
            for try await number in stream { numbers.append(number) }
            return numbers
        }
        // The first chunk is empty, and taken when the connection is up.
        for number in 0..<7 {
            try await asked[number].opened()
            try await feeds[number].send(Data())
            host.clock.advance(by: host.policy.maximumDelay + .seconds(1))
            feeds[number].finish()
            #expect(try await host.clock.nextSleep() == .milliseconds(500))
            host.clock.advance(by: .milliseconds(500))
        }
        try await asked[7].opened()
        try await feeds[7].send(Data("data: 1\n\ndata: 9\n\n".utf8))
        #expect(try await loop.value == [1])
    }

    @Test func longConnectionsWithoutEventsDoNotCount() async throws {
        let quiet = EventHost.Answer.ended("retry: 59500\n: alive\n\n")
        let server = try host.server(Array(repeating: quiet, count: 20) + [.ended("data: 1\n\n"), .status(204)])
        let api = host.connection(to: server, over: .system)
        let policy = RetryPolicy(initialDelay: .seconds(1), maximumDelay: .seconds(60), random: { 0.5 })
        let found = try await host.read(
            api.stream(of: Int.self, at: Endpoint("/"), as: .events.resuming(policy)),
            waiting: 21
        )
        #expect(found.error == nil)
        #expect(found.elements == [1])
        #expect(found.waits == Array(repeating: .seconds(60), count: 21))
    }

    @Test func givesUpIfTheNextWaitWouldEndTooLate() async throws {
        let server = try host.server([.ended("retry: 40000\ndata: 1\n\n"), .ended(""), .ended("")])
        let api = host.connection(to: server, over: .system)
        let found = try await host.read(
            api.stream(of: Int.self, at: Endpoint("/"), as: .events.resuming(host.policy)),
            waiting: 1
        )
        #expect(found.elements == [1])
        #expect(found.waits == [.milliseconds(40_500)])
        #expect(found.error?.kind == .connectionLost)
        #expect(server.requests.count == 2)
    }

    @Test func neverWaitsPastTheCallsDeadline() async throws {
        let server = try host.server([.ended("retry: 3000\ndata: 1\n\n")])
        let api = host.connection(to: server, over: .system, overall: .seconds(3))
        let stream = api.stream(of: Int.self, at: Endpoint("/"), as: .events.resuming(host.policy))
        let found = try await host.read(stream, waiting: 0)
        #expect(found.elements == [1])
        #expect(found.error?.kind == .connectionLost)
        #expect(found.error?.retryStop == .deadline)
        #expect(server.requests.count == 1)
    }

    @Test(arguments: Wire.sockets)
    func isCanceledWhileItWaits(_ wire: Wire) async throws {
        let server = try host.server([.ended("data: 1\n\n")])
        let api = host.connection(to: server, over: wire)
        let loop = Task { () async throws(ApiConnectorError) -> [Int] in
            for try await _ in api.stream(of: Int.self, at: Endpoint("/"), as: .events.resuming(host.policy)) {}
            return []
        }
        #expect(try await host.clock.nextSleep() == .milliseconds(500))
        loop.cancel()
        let result = await loop.result
        let error = try #require(throws: ApiConnectorError.self) { try result.get() }
        #expect(error.kind == .cancelled)
        #expect(host.clock.sleeperCount == 0)
    }

    @Test func theDefaultsAreMorePatientThanThoseOfACall() {
        let (call, stream) = (RetryPolicy.standard, RetryPolicy.resumption)
        #expect([call, stream].map(\.maximumAttemptCount) == [4, 8])
        #expect([call, stream].map(\.maximumDuration) == [.seconds(120), .seconds(300)])
        #expect([call, stream].map(\.initialDelay) == [.milliseconds(500), .seconds(1)])
        #expect([call, stream].map(\.maximumDelay) == [.seconds(30), .seconds(60)])
    }
}
