// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import Foundation
import Testing

/// A retry as a user writes it, with nothing about time in it.
private struct SimpleRetry<Wrapped: DataRequestType>: DataRequestType {
    let wrapped: Wrapped

    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        for _ in 1...2 {
            do throws(ApiConnectorError) {
                return try await wrapped.response(for: request)
            } catch  where error.kind != .timedOut && error.kind != .stalled {
                throw error
            } catch {}
        }
        return try await wrapped.response(for: request)
    }
}

/// The limits of an attempt hold for each request that reaches a transport.
@Suite(.timeLimit(.minutes(10))) struct ForeignRetryTests {}

extension ForeignRetryTests {
    private static let limits: [(Timeouts, Duration)] = [
        (Timeouts(attempt: .seconds(3), stall: Timeouts.noLimit), .seconds(3)),
        (Timeouts(attempt: nil, stall: .seconds(5)), .seconds(5)),
    ]

    /// The requests that a server has, one after the other.
    private final class Arrivals: Sendable {
        let gates = (1...3).map { Gate("request \($0)") }
        private let count = Locked(0)

        /// Records one, and says whether it is the third.
        func note() -> Bool {
            let number = count.withLock { count in
                count += 1
                return count
            }
            gates[min(number, 3) - 1].open()
            return number == 3
        }
    }

    /// A transport whose first two bodies never end, and that knows nothing of time.
    private struct Unlimited: DataRequestType {
        let arrivals: Arrivals

        func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
            if arrivals.note() {
                return ApiResponse(to: request, status: 200, body: ResponseBody(Data("[\"third\"]".utf8)))
            }
            let never = Gate("never")
            let chunks = AsyncThrowingStream<Data, any Error> {
                try await never.opened()
                return nil
            }
            return ApiResponse(to: request, status: 200, body: ResponseBody(chunks: chunks))
        }
    }

    /// Calls twice without a response, each until a limit has passed after its arrival, and a third time.
    private func value(
        over provider: some DataRequestType,
        at url: URL,
        _ timeouts: Timeouts,
        _ wait: Duration,
        _ arrivals: Arrivals
    ) async throws -> [String] {
        let clock = ManualClock()
        let configuration = ConnectionConfiguration(timeouts: timeouts, timeSource: clock)
        let api = NetworkConnector<_, Endpoint<ApiPath>>(
            environment: Place(),
            provider: SimpleRetry(wrapped: provider),
            configuration: configuration
        )
        async let value = api.value([String].self, at: url)
        for gate in arrivals.gates.prefix(2) {
            try await gate.opened()
            try await clock.step(wait)
        }
        return try await value
    }

    @Test func retriesATimedOutAttemptOverACannedAnswer() async throws {
        let (arrivals, never) = (Arrivals(), Gate("never"))
        let provider = TestConnector { _ in
            if !arrivals.note() { try await never.opened() }
            return .json(["third"])
        }
        let url = try #require(URL(string: "http://api.example.com/x"))
        let timeouts = Timeouts(attempt: .seconds(3), stall: Timeouts.noLimit)
        #expect(try await value(over: provider, at: url, timeouts, .seconds(3), arrivals) == ["third"])
    }

    @Test(arguments: Wire.sockets, limits)
    func retriesATimedOutAttemptOverASocket(_ wire: Wire, _ limit: (timeouts: Timeouts, wait: Duration)) async throws {
        let arrivals = Arrivals()
        let server = try LoopbackServer { connection in
            _ = try connection.readRequest()
            guard arrivals.note() else { return try connection.waitUntilPeerCloses() }
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n[\"third\"]")
        }
        let value = try await value(over: wire.transport, at: server.url(), limit.timeouts, limit.wait, arrivals)
        #expect(value == ["third"])
    }

    @Test(arguments: [
        Timeouts(attempt: .seconds(3), stall: Timeouts.noLimit), Timeouts(attempt: nil, stall: .seconds(3)),
    ])
    func retriesABodyThatTheTransportDoesNotTimeOut(_ timeouts: Timeouts) async throws {
        let arrivals = Arrivals()
        let transport = Unlimited(arrivals: arrivals)
        let clock = ManualClock()
        let configuration = ConnectionConfiguration(timeouts: timeouts, timeSource: clock)
        let policy = RetryPolicy(initialDelay: .zero)
        let api = NetworkConnector<_, Endpoint<ApiPath>>(
            environment: Place(),
            provider: transport.retrying(policy),
            configuration: configuration
        )
        let url = try #require(URL(string: "http://api.example.com/x"))
        async let value = api.value([String].self, at: url)
        for gate in arrivals.gates.prefix(2) {
            try await gate.opened()
            try await clock.step(.seconds(3))
        }
        #expect(try await value == ["third"])
    }

    @Test func aWrapperChangesTheLimitsOfItsRequests() async throws {
        let seen = Locked<[Timeouts]>([])
        let transport = TestConnector { request in
            seen.withLock { $0.append(request.timeouts) }
            return .json(["ok"])
        }
        let provider = transport.rewriting { $0.timeouts.attempt = .seconds(7) }
        let configuration = ConnectionConfiguration(timeouts: Timeouts(attempt: .seconds(3), stall: .seconds(2)))
        let api = NetworkConnector<_, Endpoint<ApiPath>>(
            environment: Place(),
            provider: provider,
            configuration: configuration
        )
        let url = try #require(URL(string: "http://api.example.com/x"))
        _ = try await api.data(at: url)
        let timeouts = try #require(seen.withLock { $0.first })
        #expect(timeouts.attempt == .seconds(7))
        #expect(timeouts.stall == .seconds(2))
    }
}
