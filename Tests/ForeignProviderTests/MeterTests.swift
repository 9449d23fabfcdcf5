// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Foundation
import Testing

/// A user's observing wrapper, which must pass the tests of the built-in wrapper.
@Suite(.timeLimit(.minutes(10))) struct MeterTests {
    private let clock = ManualClock()
    private let figures = Figures()
    private let events = EventList()

    private func api(_ timeouts: Timeouts = .unlimited, _ server: some DataRequestType) -> Connection {
        Meter(wrapped: server, figures: figures).connected(on: clock, timeouts, events)
    }

    @Test func measuresABodyAndReportsIt() async throws {
        let api = api(.unlimited, TestConnector { _ in .data(Data("12345".utf8)) })
        #expect(try await api.data(at: Route("/a")) == Data("12345".utf8))
        #expect(figures.all == ["http://api.example.com:80 5 bytes in 0.0 seconds: finished"])
        #expect(events.decisions == ["metered: bytes=5 time=0.0 seconds"])
    }

    @Test func measuresAnAbandonedStream() async throws {
        let feed = BodyFeed()
        let api = api(.unlimited, TestConnector { _ in .feed(feed) })
        do {
            var iterator = api.stream(of: String.self, at: Route("/a"), as: .lines).makeAsyncIterator()
            async let sent: Void = feed.send(Data("one\n".utf8))
            #expect(try await iterator.next() == "one")
            try await sent
        }
        await figures.changes.next()
        #expect(figures.all == ["http://api.example.com:80 4 bytes in 0.0 seconds: discarded"])
    }

    @Test func measuresABodyThatStalls() async throws {
        let api = api(
            Timeouts(attempt: nil, stall: .seconds(3)),
            TestConnector { _ in .feed(BodyFeed()) }
        )
        async let error = outcome { try await api.data(at: Route("/a")) }
        try await clock.pass(.seconds(3))
        #expect(await error?.kind == .stalled)
        #expect(figures.all == ["http://api.example.com:80 0 bytes in 3.0 seconds: stalled"])
    }

    @Test func measuresEachHopOfARedirect() async throws {
        let api = api(
            .unlimited,
            TestConnector { request in
                request.url.path() == "/b"
                    ? .json(1) : .status(302, headers: ["Location": "http://cdn.example.com/b"])
            }
        )
        _ = try await api.data(at: Route("/a"))
        #expect(
            figures.all == [
                "http://api.example.com:80 0 bytes in 0.0 seconds: finished",
                "http://cdn.example.com:80 1 bytes in 0.0 seconds: finished",
            ]
        )
    }

    @Test func measuresAFailure() async throws {
        let api = api(
            .unlimited,
            TestConnector { _ in .failure(ApiConnectorError(.cannotConnect, "nobody is there")) }
        )
        #expect(await outcome { try await api.data(at: Route("/a")) }?.kind == .cannotConnect)
        #expect(figures.all == ["http://api.example.com:80 0 bytes in 0.0 seconds: cannotConnect"])
        #expect(events.outcomes == ["cannotConnect"])
    }
}
