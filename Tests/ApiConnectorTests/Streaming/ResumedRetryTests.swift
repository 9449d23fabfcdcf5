// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

/// A stream that is resumed is a retry: one policy, one back-off, one budget, one history.
@Suite(.timeLimit(.minutes(10))) struct ResumedRetryTests {
    private let host = EventHost()
    private let seen = EventLog<String>()
    private let recorder = EventRecorder()
}

extension ResumedRetryTests {
    private enum Answer: Sendable {
        case events(String)
        case status(HTTPStatus, HTTPHeaders = HTTPHeaders())
        case lost
    }

    /// A server that answers so, the last answer again and again.
    private func server(_ answers: Answer...) -> TestConnector<ClosureResponses> {
        TestConnector { [seen] request in
            seen.note("\(request.attempt) \(request.headers["Last-Event-ID"] ?? "-")")
            switch answers[min(seen.events.count, answers.count) - 1] {
            case .events(let text): return .data(Data(text.utf8), headers: [.contentType: "text/event-stream"])
            case .status(let status, let headers): return .status(status, headers: headers)
            case .lost: throw URLError(.networkConnectionLost)
            }
        }
    }

    private func connection<Provider: DataRequestType>(
        over provider: Provider
    ) -> NetworkConnector<Provider, Endpoint<ApiPath>> {
        NetworkConnector(
            environment: Place(),
            provider: provider,
            configuration: ConnectionConfiguration(timeouts: .unlimited, timeSource: host.clock)
        )
    }

    private func read(
        over provider: some DataRequestType,
        _ policy: RetryPolicy? = nil,
        waiting count: Int
    ) async throws -> (elements: [Int], waits: [Duration], error: ApiConnectorError?) {
        let format = StreamFormat<Int>.events.resuming(policy ?? host.policy)
        return try await host.read(connection(over: provider).stream(at: Endpoint("/"), as: format), waiting: count)
    }

    // MARK: Attempts

    @Test func observersSeeEachConnectionAndEachWaitOfOneCall() async throws {
        let provider = server(
            .events("id: a\ndata: 1\n\n"),
            .status(503),
            .lost,
            .events("data: 2\n\n"),
            .status(204)
        )
        let found = try await read(over: provider.observing(by: recorder), waiting: 4)
        #expect(found.error == nil)
        #expect(found.elements == [1, 2])
        #expect(seen.events == ["1 -", "2 a", "3 a", "4 a", "5 a"])
        let waits = recorder.texts.filter { $0.hasPrefix("retrying") }
        #expect(
            waits == [
                "retrying after 0.5 seconds because of connectionLost", "retrying after 1.0 seconds because of 503",
                "retrying after 2.0 seconds because of connectionLost",
                "retrying after 0.5 seconds because of connectionLost",
            ]
        )
        let starts = recorder.events.filter { $0.kind.description == "started" }
        #expect(starts.map(\.attempt) == [1, 2, 3, 4, 5])
        #expect(Set(recorder.events.map(\.call)).count == 1)
    }

    @Test func theLastErrorListsTheAttemptsSinceTheLastElement() async throws {
        let provider = server(
            .events("data: 1\n\n"),
            .lost,
            .events("data: 2\n\n"),
            .status(503),
            .lost,
            .status(502)
        )
        let found = try await read(over: provider.observing(by: recorder), waiting: 5)
        let error = try #require(found.error)
        #expect(found.elements == [1, 2])
        #expect(error.kind == .unacceptableStatus)
        #expect(error.retryStop == .attemptLimit)
        #expect(error.earlierAttempts.map(\.kind) == [.connectionLost, .unacceptableStatus, .connectionLost])
        #expect(error.earlierAttempts.map(\.status) == [200, 503, nil])
        #expect(error.earlierAttempts.map(\.wait) == [.milliseconds(500), .seconds(1), .seconds(2)])
        #expect(error.earlierAttempts.map(\.request.attempt) == [3, 4, 5])
        #expect(recorder.texts.last == "not retrying because of attemptLimit")
    }

    @Test func aReconnectIsNotRetriedByTheProviderToo() async throws {
        let provider = server(.events("data: 1\n\n"), .lost).retrying(RetryPolicy(initialDelay: .zero))
        let found = try await read(over: provider, waiting: 3)
        #expect(found.waits == [.milliseconds(500), .seconds(1), .seconds(2)])
        #expect(found.error?.kind == .connectionLost)
        #expect(seen.events.count == 4)
    }

    @Test func theFirstRequestIsRetriedByTheProvider() async throws {
        let retry = RetryPolicy(initialDelay: .seconds(8), random: { 0.5 })
        let provider = server(.status(503), .events("data: 1\n\n"), .status(204)).retrying(retry)
        let found = try await read(over: provider, waiting: 2)
        #expect(found.error == nil)
        #expect(found.elements == [1])
        #expect(found.waits == [.seconds(4), .milliseconds(500)])
        #expect(seen.events == ["1 -", "2 -", "3 -"])
    }

    @Test func aDownloadIsOneCallWithItsAttempts() async throws {
        let content = Data(0..<100)
        let provider = TestConnector { [seen] request in
            seen.note("\(request.attempt) \(request.headers["Range"] ?? "-")")
            switch seen.events.count {
            case 1: return .data(content, headers: ["ETag": "\"v1\""]).failing(.afterByteCount(40))
            case 2: return .status(503)
            default:
                let fields: HTTPHeaders = ["ETag": "\"v1\"", "Content-Range": "bytes 40-99/100"]
                return .data(content.dropFirst(40), status: 206, headers: fields)
            }
        }
        let folder = try TemporaryFolder()
        let download = connection(over: provider.observing(by: recorder))
            .download(at: Endpoint("/"), to: folder.file("a"), resuming: host.policy)
        let found = try await host.read(download, waiting: 2)
        #expect(found.error == nil)
        #expect(folder.data("a") == content)
        #expect(seen.events == ["1 -", "2 bytes=40-", "3 bytes=40-"])
        #expect(found.waits == [.milliseconds(500), .seconds(1)])
        #expect(recorder.texts.count { $0.hasPrefix("retrying") } == 2)
        #expect(Set(recorder.events.map(\.call)).count == 1)
    }

    // MARK: Back-off

    @Test func aRetryAfterIsRespected() async throws {
        let provider = server(
            .events("data: 1\n\n"),
            .status(503, [.retryAfter: "7"]),
            .events("data: 2\n\n"),
            .status(204)
        )
        let found = try await read(over: provider, waiting: 3)
        #expect(found.error == nil)
        #expect(found.elements == [1, 2])
        #expect(found.waits == [.milliseconds(500), .seconds(8), .milliseconds(500)])
    }

    @Test func aThrottledStreamWaitsAsAThrottledCall() async throws {
        var policy = host.policy
        policy.throttlingDelay = .seconds(20)
        let found = try await read(over: server(.events("data: 1\n\n"), .status(429), .status(204)), policy, waiting: 2)
        #expect(found.error == nil)
        #expect(found.waits == [.milliseconds(500), .seconds(20)])
    }

    @Test func theRetryTimeOfAnEventHasALimit() async throws {
        var policy = host.policy
        policy.maximumDuration = nil
        let found = try await read(
            over: server(.events("retry: 600000\ndata: 1\n\n"), .status(204)),
            policy,
            waiting: 1
        )
        #expect(found.waits == [.milliseconds(60_500)])
    }

    @Test func thePolicyDefinesTheRetryableStatusesAndKinds() async throws {
        var policy = host.policy
        policy.statuses = [404]
        policy.kinds = []
        let found = try await read(over: server(.events("data: 1\n\n"), .status(404), .lost), policy, waiting: 2)
        #expect(found.error?.kind == .connectionLost)
        #expect(found.error?.retryStop == .notTransient)
        #expect(seen.events.count == 3)
    }

    // MARK: Budget

    @Test func takesItsRetriesFromTheBudgetOfTheRetryingProvider() async throws {
        let budget = RetryBudget(burstCount: 2, share: 0, countPerSecond: 0)
        let provider = server(.events("data: 1\n\n"), .lost).retrying(RetryPolicy(initialDelay: .zero, budget: budget))
        var policy = RetryPolicy.resumption
        policy.maximumDuration = nil
        let found = try await read(over: provider, policy, waiting: 3)
        #expect(found.error?.retryStop == .budget)
        #expect(seen.events.count == 4)
        // Nothing is left for a call, either.
        let error = await #expect(throws: ApiConnectorError.self) {
            try await connection(over: provider).data(at: Endpoint("/"))
        }
        #expect(error?.retryStop == .budget)
        #expect(seen.events.count == 5)
    }

    @Test func hasItsOwnBudgetWithoutARetryingProvider() async throws {
        var policy = RetryPolicy.resumption
        policy.budget = RetryBudget(burstCount: 1, share: 0, countPerSecond: 0)
        let found = try await read(over: server(.events("data: 1\n\n"), .lost), policy, waiting: 2)
        #expect(found.error?.retryStop == .budget)
        #expect(seen.events.count == 3)
    }

    @Test func resumingAfterAnElementUsesNoBudget() async throws {
        var policy = host.policy
        policy.budget = RetryBudget(burstCount: 0, share: 0, countPerSecond: 0)
        let events = Answer.events("data: 1\n\n")
        let found = try await read(over: server(events, events, events, .status(204)), policy, waiting: 3)
        #expect(found.error == nil)
        #expect(found.elements == [1, 1, 1])
    }
}
