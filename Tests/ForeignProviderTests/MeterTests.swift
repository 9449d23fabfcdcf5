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
}

extension MeterTests {
    private func api(_ timeouts: Timeouts = .unlimited, _ server: some DataRequestType) -> Connection {
        Meter(wrapped: server, figures: figures).connected(on: clock, timeouts, events)
    }

    @Test func measuresABodyAndReportsIt() async throws {
        let api = api(.unlimited, TestConnector { _ in .data(Data("12345".utf8)) })
        #expect(try await api.data(at: Route("/a")) == Data("12345".utf8))
        #expect(figures.all == ["http://api.example.com 5 bytes in 0.0 seconds: finished"])
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
        #expect(figures.all == ["http://api.example.com 4 bytes in 0.0 seconds: discarded"])
    }

    @Test func measuresABodyThatStalls() async throws {
        let api = api(
            Timeouts(attempt: nil, stall: .seconds(3)),
            TestConnector { _ in .feed(BodyFeed()) }
        )
        async let error = outcome { try await api.data(at: Route("/a")) }
        try await clock.pass(.seconds(3))
        #expect(await error?.kind == .stalled)
        #expect(figures.all == ["http://api.example.com 0 bytes in 3.0 seconds: stalled"])
    }

    @Test func measuresABodyThatTheDeadlineEnds() async throws {
        let arrivals = Arrivals()
        let api = api(
            Timeouts(attempt: nil, stall: Timeouts.noLimit, overall: .seconds(5)),
            TestConnector { _ in
                arrivals.note()
                return .feed(BodyFeed())
            }
        )
        async let error = outcome { try await api.data(at: Route("/a")) }
        await arrivals.next()
        try await clock.pass(.seconds(5))
        #expect(await error?.kind == .deadlineExceeded)
        #expect(figures.all == ["http://api.example.com 0 bytes in 5.0 seconds: deadlineExceeded"])
        #expect(events.outcomes == ["deadlineExceeded"])
    }

    @Test func measuresACallThatIsCanceled() async throws {
        let arrivals = Arrivals()
        let api = api(
            .unlimited,
            TestConnector { _ in
                arrivals.note()
                return .feed(BodyFeed())
            }
        )
        let call = Task { await outcome { try await api.data(at: Route("/a")) } }
        await arrivals.next()
        call.cancel()
        #expect(await call.value?.kind == .cancelled)
        #expect(figures.all == ["http://api.example.com 0 bytes in 0.0 seconds: cancelled"])
        #expect(events.outcomes == ["cancelled"])
    }

    @Test func measuresTheRequestsOfARefresh() async throws {
        let metered = Meter(
            wrapped: TestConnector { request in
                if request.url.path() == "/token" { return .json("t2") }
                return request.headers[.authorization] == nil ? .status(401) : .json("done")
            },
            figures: figures
        )
        let plain = metered.connected(on: clock)
        let session = RefreshableCredentials(timeSource: clock) { _ in
            .bearer(try await plain.value(String.self, at: Route("/token")))
        }
        let api = metered.authenticating(by: session).connected(on: clock)
        #expect(try await api.value(String.self, at: Route("/a")) == "done")
        #expect(
            figures.all == [
                "http://api.example.com 4 bytes in 0.0 seconds: finished",
                "http://api.example.com 6 bytes in 0.0 seconds: finished",
            ]
        )
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
                "http://api.example.com 0 bytes in 0.0 seconds: finished",
                "http://cdn.example.com 1 bytes in 0.0 seconds: finished",
            ]
        )
    }

    @Test func measuresAFailure() async throws {
        let api = api(
            .unlimited,
            TestConnector { _ in .failure(ApiConnectorError(.cannotConnect, "nobody is there")) }
        )
        #expect(await outcome { try await api.data(at: Route("/a")) }?.kind == .cannotConnect)
        #expect(figures.all == ["http://api.example.com 0 bytes in 0.0 seconds: cannotConnect"])
        #expect(events.outcomes == ["cannotConnect"])
    }
}
