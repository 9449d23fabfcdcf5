// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnectorTesting
import Testing

@testable import ApiConnector

/// Which streams of events resume after an end or a lost connection, and which do not.
struct ResumedEventTests {
    private let host = EventHost()

    @Test(arguments: Wire.sockets)
    func resumesAfterTheLastEventAfterALostConnectionAndAnEnd(_ wire: Wire) async throws {
        let server = try host.server([
            .broken("retry: 3000\nid: a\ndata: 1\n\nid: b\ndata: 2\n\nid: c\ndata: 3"),
            .ended("data: 3\n\nid: d\n\n"),
            .ended("id\ndata: 4\n\n"),
            .status(204),
        ])
        let api = host.connection(to: server, over: wire)
        let found = try await host.read(
            api.stream(of: Int.self, at: Endpoint("/"), as: .events.resuming(host.policy)),
            waiting: 3
        )
        #expect(found.error == nil)
        #expect(found.elements == [1, 2, 3, 4])
        // The time that the server asks for, plus half a second.
        #expect(found.waits == [.milliseconds(3500), .milliseconds(3500), .milliseconds(3500)])
        #expect(server.requests.map { $0.header("Last-Event-ID") } == [nil, "b", "d", nil])
        #expect(server.errors.isEmpty)
    }

    @Test(arguments: Wire.sockets)
    func resumesIfTheFirstConnectionBrokeAfterItsHead(_ wire: Wire) async throws {
        let server = try host.server([.beheaded, .beheaded, .ended("data: 1\n\n"), .status(204)])
        let api = host.connection(to: server, over: wire)
        let found = try await host.read(
            api.stream(of: Int.self, at: Endpoint("/"), as: .events.resuming(host.policy)),
            waiting: 3
        )
        #expect(found.error == nil)
        #expect(found.elements == [1])
        #expect(found.waits.map { $0 / .milliseconds(500) } == [1, 2, 1])
        #expect(server.requests.count == 4)
    }

    @Test func repeatsAPostWithAnIdempotencyKey() async throws {
        let server = try host.server([.broken("id: a\ndata: 1\n\n"), .status(204)])
        let api = host.connection(to: server, over: .system)
        let found = try await host.read(
            api.stream(
                of: Int.self,
                at: Endpoint(path: "/", method: .post),
                as: .events.resuming(host.policy),
                options: CallOptions(headers: [.idempotencyKey: "k1"])
            ),
            waiting: 1
        )
        #expect(found.error == nil)
        #expect(found.elements == [1])
        #expect(server.requests.map { $0.header("Idempotency-Key") } == ["k1", "k1"])
    }

    @Test(arguments: [true, false])
    func doesNotRepeatAPostWithoutAnIdempotencyKey(_ ends: Bool) async throws {
        let text = "id: a\ndata: 1\n\n"
        let server = try host.server([ends ? .ended(text) : .broken(text)])
        let api = host.connection(to: server, over: .system)
        let route = Endpoint<ApiPath>(path: "/", method: .post)
        let found = try await host.read(
            api.stream(of: Int.self, at: route, as: .events.resuming(host.policy)),
            waiting: 0
        )
        #expect(found.elements == [1])
        #expect(found.error?.kind == .connectionLost)
        #expect(found.error?.retryStop == .notIdempotent)
        #expect((found.error?.detail == "the server ended the stream") == ends)
        #expect(server.requests.count == 1)
    }

    @Test func doesNotRepeatAFirstRequestThatFails() async throws {
        let port = try RefusingPort()
        defer { withExtendedLifetime(port) {} }
        let api = NetworkConnector(
            environment: Place(host: LoopbackServer.host, port: port.number),
            provider: SystemProvider(),
            router: Endpoint<ApiPath>.self,
            configuration: ConnectionConfiguration(timeouts: .unlimited, timeSource: host.clock)
        )
        let found = try await host.read(
            api.stream(of: Int.self, at: Endpoint("/"), as: .events.resuming(host.policy)),
            waiting: 0
        )
        #expect(found.error?.kind == .cannotConnect)
    }

    @Test(arguments: [
        (404, "text/event-stream", ApiConnectorError.Kind.unacceptableStatus),
        (200, "text/html", .unacceptableMediaType),
    ])
    func failsIfTheResumedResponseIsRejected(_ status: Int, _ type: String, _ kind: ApiConnectorError.Kind) async throws
    {
        let server = try host.server([.ended("data: 1\n\n"), .status(status, type: type)])
        let api = host.connection(to: server, over: .system)
        let found = try await host.read(
            api.stream(of: Int.self, at: Endpoint("/"), as: .events.resuming(host.policy)),
            waiting: 1
        )
        #expect(found.elements == [1])
        #expect(found.error?.kind == kind)
        #expect(server.requests.count == 2)
    }

    @Test func isResumedOnlyIfEnabledAndNotAfterASentinelOrADecodingError() async throws {
        let server = try host.server([
            .ended("data: 1\n\n"), .ended("data: 1\n\ndata: x\n\n"), .ended("data: 1\n\ndata: x\n\n"), .status(204),
        ])
        let api = host.connection(to: server, over: .system)
        let plain = try await host.read(api.stream(of: Int.self, at: Endpoint("/"), as: .events), waiting: 0)
        #expect(plain.elements == [1] && plain.error == nil)
        let until = api.stream(of: Int.self, at: Endpoint("/"), as: .events(until: "x").resuming(host.policy))
        let ended = try await host.read(until, waiting: 0)
        #expect(ended.elements == [1] && ended.error == nil)
        let broken = try await host.read(
            api.stream(of: Int.self, at: Endpoint("/"), as: .events.resuming(host.policy)),
            waiting: 0
        )
        #expect(broken.elements == [1])
        #expect(broken.error?.kind == .decodingFailed)
        let none = try await host.read(
            api.stream(of: Int.self, at: Endpoint("/"), as: .events.resuming(host.policy)),
            waiting: 0
        )
        #expect(none.elements.isEmpty && none.error == nil)
        #expect(server.requests.count == 4)
    }

    @Test func closesTheResumedConnectionWhenTheLoopIsLeft() async throws {
        let server = try host.server([.ended("data: 1\n\n"), .held("data: 2\n\n")])
        let api = host.connection(to: server, over: .system)
        let waiting = Task { [clock = host.clock] in clock.advance(by: try await clock.nextSleep()) }
        for try await number in api.stream(of: Int.self, at: Endpoint("/"), as: .events.resuming(host.policy)) {
            if number == 2 { break }
        }
        try await waiting.value
        try await server.connectionEnded(1)
    }
}
