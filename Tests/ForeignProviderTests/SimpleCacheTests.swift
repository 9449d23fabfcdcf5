// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Foundation
import Testing

/// A user's cache, which must pass the tests of the built-in cache.
@Suite(.timeLimit(.minutes(10))) struct SimpleCacheTests {
    private let arrivals = Arrivals()
    private let events = EventList()
}

extension SimpleCacheTests {
    private var server: TestConnector<ClosureResponses> {
        TestConnector { [arrivals] _ in .json(arrivals.note()) }
    }

    @Test func answersASecondCallWithoutTheServer() async throws {
        let api = SimpleCache(server).connected(ManualClock(), events)
        #expect(try await api.value(Int.self, at: Route("/a")) == 1)
        let second = try await api.response(of: Int.self, at: Route("/a"))
        #expect(second.value == 1)
        #expect(second.cacheHit == .fresh)
        #expect(events.decisions == ["served from the cache: fresh"])
        #expect(events.outcomes == ["2xx", "2xx"])
        #expect(try await api.value(Int.self, at: Route("/b")) == 2)
    }

    @Test func aCallBypassesTheCacheWithARequestValue() async throws {
        let cache = SimpleCache(server)
        let api = cache.connected(ManualClock(), events)
        _ = try await api.data(at: Route("/a"))
        let values = RequestValues().setting(BypassesCache.self, to: true)
        #expect(
            try await api.value(Int.self, at: Route("/a"), options: CallOptions(values: values)) == 2
        )
        #expect(try await api.value(Int.self, at: Route("/a")) == 2)
    }

    @Test func eachUserHasItsOwnResponses() async throws {
        let cache = SimpleCache(server)
        for (token, number) in [("a", 1), ("b", 2), ("a", 1)] {
            let api = cache.addingHeaders([.authorization: "Bearer \(token)"]).connected(ManualClock(), events)
            #expect(try await api.value(Int.self, at: Route("/a")) == number)
        }
    }

    @Test func storesNoResponseToACredentialOfAnInnerProvider() async throws {
        let api = SimpleCache(server.addingHeaders([.authorization: "Bearer a"])).connected(
            ManualClock(),
            events
        )
        #expect(try await api.value(Int.self, at: Route("/a")) == 1)
        #expect(try await api.value(Int.self, at: Route("/a")) == 2)
    }

    @Test func keepsNothingThatTheServerForbidsToStore() async throws {
        let server = TestConnector { [arrivals] _ in
            .json(arrivals.note(), headers: ["Cache-Control": "private, no-store"])
        }
        let api = SimpleCache(server).connected(ManualClock(), events)
        #expect(try await api.value(Int.self, at: Route("/a")) == 1)
        #expect(try await api.value(Int.self, at: Route("/a")) == 2)
    }

    @Test func keepsNoStreamAndNoFailure() async throws {
        let server = TestConnector { [arrivals] request in
            arrivals.note() == 1 ? .status(503) : .chunks([Data("one\n".utf8)])
        }
        let api = SimpleCache(server).connected(ManualClock(), events)
        #expect(await outcome { try await api.data(at: Route("/a")) }?.response?.status == 503)
        for _ in 1...2 {
            for try await line in api.stream(of: String.self, at: Route("/a"), as: .lines) {
                #expect(line == "one")
            }
        }
        #expect(arrivals.total == 3)
    }

    /// A server whose first body never ends, and whose later responses are their numbers.
    private var hangingServer: TestConnector<ClosureResponses> {
        TestConnector { [arrivals] _ in
            let number = arrivals.note()
            return number == 1 ? .feed(BodyFeed()) : .json(number)
        }
    }

    @Test(arguments: [
        (Timeouts(attempt: nil, stall: .seconds(5)), ApiConnectorError.Kind.stalled),
        (Timeouts(attempt: .seconds(5), stall: Timeouts.noLimit), .timedOut),
        (Timeouts(attempt: nil, stall: Timeouts.noLimit, overall: .seconds(5)), .deadlineExceeded),
    ])
    func keepsNothingOfABodyThatALimitEnds(_ timeouts: Timeouts, _ kind: ApiConnectorError.Kind) async throws {
        let clock = ManualClock()
        let api = SimpleCache(hangingServer).connected(on: clock, timeouts, events)
        async let error = outcome { try await api.data(at: Route("/a")) }
        await arrivals.next()
        try await clock.pass(.seconds(5))
        #expect(await error?.kind == kind)
        #expect(try await api.value(Int.self, at: Route("/a")) == 2)
        #expect(try await api.value(Int.self, at: Route("/a")) == 2)
        #expect(events.outcomes == [kind.rawValue, "2xx", "2xx"])
    }

    @Test func keepsNothingOfACallThatIsCanceled() async throws {
        let api = SimpleCache(hangingServer).connected(ManualClock(), events)
        let call = Task { await outcome { try await api.data(at: Route("/a")) } }
        await arrivals.next()
        call.cancel()
        #expect(await call.value?.kind == .cancelled)
        #expect(try await api.value(Int.self, at: Route("/a")) == 2)
    }

    @Test func keepsTheTargetOfARedirectAndAsksForTheRedirect() async throws {
        let server = TestConnector { [arrivals] request in
            let number = arrivals.note()
            return request.url.path() == "/a"
                ? .status(302, headers: ["Location": "http://cdn.example.com/b"]) : .json(number)
        }
        let api = SimpleCache(server).connected(ManualClock(), events)
        for _ in 1...2 { #expect(try await api.value(Int.self, at: Route("/a")) == 2) }
        #expect(arrivals.total == 3)
    }

    @Test func aRefreshGetsAndLeavesNoStoredResponse() async throws {
        let api = SimpleCache(server).connected(ManualClock(), events)
        let refresh = CallOptions(isCredentialRefresh: true)
        #expect(try await api.value(Int.self, at: Route("/a"), options: refresh) == 1)
        #expect(try await api.value(Int.self, at: Route("/a")) == 2)
        #expect(try await api.value(Int.self, at: Route("/a"), options: refresh) == 3)
    }

    @Test func aBodyThatIsTooLargeForTheCallIsNotServed() async throws {
        let server = TestConnector { [arrivals] _ in
            arrivals.note()
            return .data(Data(repeating: 0x20, count: 100))
        }
        let api = SimpleCache(server).connected(ManualClock(), events)
        _ = try await api.data(at: Route("/a"))
        let error = await outcome {
            try await api.data(at: Route("/a"), options: CallOptions(maximumBodyByteCount: 10))
        }
        #expect(error?.kind == .bodyTooLarge)
        #expect(arrivals.total == 2)
    }
}

extension DataRequestType {
    fileprivate func connected(_ clock: ManualClock, _ events: EventList) -> Connection {
        connected(on: clock, .unlimited, events)
    }
}
