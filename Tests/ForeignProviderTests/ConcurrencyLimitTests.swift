// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Foundation
import Testing

/// A user's limit, which must pass the tests of the built-in limit.
@Suite(.timeLimit(.minutes(10))) struct ConcurrencyLimitTests {
    private let clock = ManualClock()
    private let arrivals = Arrivals()
    private let feed = BodyFeed()
}

extension ConcurrencyLimitTests {
    /// One slot; the first response is a body that a test sends, all others are `"done"`.
    private func api(
        _ timeouts: Timeouts = .unlimited,
        _ events: EventList = EventList()
    ) -> Connection {
        let server = TestConnector { [arrivals, feed] _ in
            arrivals.note() == 1 ? .feed(feed) : .json("done")
        }
        return ConcurrencyLimit(1, server).connected(on: clock, timeouts, events)
    }

    @Test func aCallWaitsForTheEndOfThePreviousBody() async throws {
        let events = EventList()
        let api = api(.unlimited, events)
        async let first = api.data(at: Route("/a"))
        await arrivals.next()
        async let second = api.value(String.self, at: Route("/b"))
        try await feed.send(Data("1".utf8))
        feed.finish()
        #expect(try await first == Data("1".utf8))
        #expect(try await second == "done")
        #expect(arrivals.total == 2)
    }

    @Test func theLimitsOfAnAttemptDoNotCountAWait() async throws {
        let events = EventList()
        let api = api(
            Timeouts(attempt: .seconds(10), stall: .seconds(5), overall: .seconds(100)),
            events
        )
        async let first = outcome { try await api.data(at: Route("/a"), options: Self.unlimited) }
        await arrivals.next()
        async let second = api.value(String.self, at: Route("/b"))
        // The deadline of the wait is all that is on the clock.
        try await clock.pass(.seconds(100) - .seconds(50), ofSleep: .seconds(100))
        feed.finish()
        #expect(await first == nil)
        #expect(try await second == "done")
        #expect(events.decisions == ["limited for 50.0 seconds because of concurrency"])
    }

    @Test func theDeadlineEndsAWait() async throws {
        let api = api(Timeouts(attempt: nil, stall: Timeouts.noLimit, overall: .seconds(8)))
        async let first = outcome { try await api.data(at: Route("/a"), options: Self.unlimited) }
        await arrivals.next()
        async let second = outcome { try await api.data(at: Route("/b")) }
        try await clock.pass(.seconds(8))
        #expect(await second?.kind == .deadlineExceeded)
        feed.finish()
        #expect(await first == nil)
        #expect(try await api.value(String.self, at: Route("/c")) == "done")
        #expect(arrivals.total == 2)
    }

    @Test func aCancellationEndsAWait() async throws {
        let api = api()
        async let first = outcome { try await api.data(at: Route("/a")) }
        await arrivals.next()
        let second = Task { await outcome { try await api.data(at: Route("/b")) } }
        second.cancel()
        #expect(await second.value?.kind == .cancelled)
        feed.finish()
        #expect(await first == nil)
        #expect(try await api.value(String.self, at: Route("/c")) == "done")
        #expect(arrivals.total == 2)
    }

    @Test func aStreamHoldsItsSlotUntilItsReaderStops() async throws {
        let api = api()
        do {
            var iterator = api.stream(of: String.self, at: Route("/a"), as: .lines).makeAsyncIterator()
            async let sent: Void = feed.send(Data("one\n".utf8))
            #expect(try await iterator.next() == "one")
            try await sent
            #expect(arrivals.total == 1)
        }
        #expect(try await api.value(String.self, at: Route("/b")) == "done")
    }

    @Test func aRefreshDoesNotWait() async throws {
        let refreshed = Arrivals()
        let server = TestConnector { [arrivals, feed] request in
            if request.url.path() == "/token" {
                refreshed.note()
                return .json("t2")
            }
            return arrivals.note() == 1 ? .feed(feed) : .json("done")
        }
        let limited = ConcurrencyLimit(1, server)
        let plain = limited.connected(on: clock)
        let session = RefreshableCredentials(timeSource: clock) { _ in
            .bearer(try await plain.value(String.self, at: Route("/token")))
        }
        let api = limited.authenticating(by: session).connected(on: clock)
        async let first = outcome { try await plain.data(at: Route("/a")) }
        await arrivals.next()
        async let second = api.value(String.self, at: Route("/b"))
        await refreshed.next()
        feed.finish()
        #expect(await first == nil)
        #expect(try await second == "done")
    }

    private static let unlimited = CallOptions(timeouts: .unlimited)
}

extension ManualClock {
    /// Moves the clock by a step when something sleeps for a length.
    fileprivate func pass(_ step: Duration, ofSleep length: Duration) async throws {
        while try await nextSleep() != length {}
        advance(by: step)
    }
}
