// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

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
@Suite struct ForeignRetryTests {
    private static let limits: [(Timeouts, Duration)] = [
        (Timeouts(attempt: .seconds(3), stall: nil), .seconds(3)),
        (Timeouts(attempt: nil, stall: .seconds(5)), .seconds(5)),
    ]

    /// Calls twice in vain, each until a limit has passed, and once more.
    private func value(
        over provider: some DataRequestType,
        at url: URL,
        _ timeouts: Timeouts,
        _ wait: Duration
    ) async throws -> [String] {
        let clock = ManualClock()
        let configuration = ConnectionConfiguration(timeouts: timeouts, timeSource: clock)
        let api = NetworkConnector<_, Endpoint<ApiPath>>(
            environment: Place(),
            provider: SimpleRetry(wrapped: provider),
            configuration: configuration
        )
        async let value = api.value([String].self, at: url)
        try await clock.step(wait, wait)
        return try await value
    }

    @Test func getsPastAnAttemptOverACannedAnswer() async throws {
        let count = Locked(0)
        let never = Gate("never")
        let provider = TestConnector { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            if number < 3 { try await never.opened() }
            return .json(["third"])
        }
        let url = try #require(URL(string: "http://api.example.com/x"))
        let timeouts = Timeouts(attempt: .seconds(3), stall: nil)
        #expect(try await value(over: provider, at: url, timeouts, .seconds(3)) == ["third"])
        #expect(count.withLock { $0 } == 3)
    }

    @Test(arguments: Wire.sockets, limits)
    func getsPastAnAttemptOverASocket(_ wire: Wire, _ limit: (timeouts: Timeouts, wait: Duration)) async throws {
        let count = Locked(0)
        let server = try LoopbackServer { connection in
            _ = try connection.readRequest()
            let number = count.withLock { count in
                count += 1
                return count
            }
            if number < 3 { return try connection.waitUntilPeerCloses() }
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n[\"third\"]")
        }
        let value = try await value(over: wire.transport, at: server.url(), limit.timeouts, limit.wait)
        #expect(value == ["third"])
        #expect(count.withLock { $0 } == 3)
    }

    @Test func aWrapperChangesTheLimitsOfWhatItSends() async throws {
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
