// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct RetryingTests {
    private let clock = ManualClock()
}

extension RetryingTests {
    private func connection<Provider: DataRequestType>(
        over provider: Provider,
        _ timeouts: Timeouts = .unlimited
    ) -> NetworkConnector<Provider, Router> {
        let configuration = ConnectionConfiguration(timeouts: timeouts, timeSource: clock)
        return NetworkConnector(environment: .test, provider: provider, configuration: configuration)
    }

    private func request(_ method: HTTPMethod = .get) -> ApiRequest {
        var request = ApiRequest(url: URL(string: "http://api.example.com/posts") ?? URL(filePath: ""), method: method)
        request.timeSource = clock
        return request
    }

    /// A wrapper that rejects a response with status 503.
    private struct Rejecting: DataRequestType {
        let kind: ApiConnectorError.Kind
        let arrivals = EventLog<Int>()

        func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
            arrivals.note(request.attempt)
            throw ApiConnectorError(kind, "no", response: ApiResponse(to: request, status: 503), body: Data())
        }
    }

    @Test(arguments: [
        (ApiConnectorError.Kind.unacceptableStatus, 4), (.backendFailure, 4), (.malformedResponse, 1),
    ])
    func theStatusDecidesIfItWasTheReasonForTheRejection(_ kind: ApiConnectorError.Kind, _ count: Int) async throws {
        let wrapper = Rejecting(kind: kind)
        let provider = wrapper.retrying(RetryPolicy(initialDelay: .zero, maximumDelay: .zero))
        let error = await #expect(throws: ApiConnectorError.self) { try await provider.response(for: request()) }
        #expect(error?.kind == kind)
        #expect(wrapper.arrivals.events == Array(1...count))
    }

    @Test func theErrorListsAllAttempts() async throws {
        let answers: [TestConnectorResponse] = [.retryAfter("2"), .failing(.connectionLost), .status(503)]
        let provider = TestConnector { answers[$0.attempt - 1] }
        let api = connection(over: provider.retrying(.halfWay { $0.maximumAttemptCount = 3 }))
        let (result, _) = try await clock.moving {
            await Result { () async throws(ApiConnectorError) in try await api.data(at: .me) }
        }
        let error = try #require(throws: ApiConnectorError.self) { try result.get() }

        #expect(
            error.description
                == "GET http://mytestserver.com/me failed (unacceptableStatus): the server answered 503 Service "
                + "Unavailable, and only 200 to 299 are accepted. 2 earlier attempts failed: 503 Service Unavailable "
                + "(waited 2.25 seconds); connectionLost (waited 0.5 seconds). The request was not sent again: the "
                + "policy's maximum attempt count is reached. The server has a problem; retry later, or tell its owner."
        )
        #expect(error.request?.attempt == 3)
        #expect(error.elapsed == .milliseconds(2750))
        #expect(error.earlierAttempts.map(\.status) == [503, nil])
        #expect(error.earlierAttempts.map(\.kind) == [.unacceptableStatus, .connectionLost])
        #expect(error.earlierAttempts.map(\.detail) == ["the server answered 503 Service Unavailable", "it failed"])
        #expect(error.earlierAttempts.map(\.duration) == [.zero, .zero])
    }

    @Test(arguments: [(.nothing, 2), (.some, 1), (.all, 1), (nil, 1)] as [(ApiConnectorError.SentBytes?, Int)])
    func aPostIsRetriedIfNothingWasSent(_ bytesSent: ApiConnectorError.SentBytes?, _ count: Int) async throws {
        let provider = LosingProvider(bytesSent: bytesSent)
        let retrying = provider.retrying(.halfWay { $0.maximumAttemptCount = 2 })
        let (result, _) = try await clock.moving { [request = request(.post)] in await retrying.result(for: request) }
        let error = try #require(throws: ApiConnectorError.self) { try result.get() }
        #expect(error.bytesSent == bytesSent)
        #expect(provider.count.withLock { $0 } == count)
    }

    @Test func aSuccessKeepsTheEarlierAttempts() async throws {
        let provider = TestConnector { $0.attempt < 3 ? .status(502) : .fine }.retrying(.halfWay)
        let (result, _) = try await clock.moving { [request = request()] in await provider.result(for: request) }
        let response = try result.get()
        #expect(response.request.attempt == 3)
        #expect(response.request.earlierAttempts.map(\.status) == [502, 502])
    }

    @Test func aRetriedPostKeepsItsIdempotencyKey() async throws {
        let keys = EventLog<String>()
        let counter = Locked(0)
        let policy = RetryPolicy.halfWay {
            $0.idempotencyKey = {
                counter.withLock { count in
                    count += 1
                    return "key \(count)"
                }
            }
        }
        let provider = TestConnector { request in
            keys.note(request.headers[.idempotencyKey] ?? "none")
            return request.attempt < 3 ? .status(503) : .fine
        }.retrying(policy)
        var own = request(.post)
        own.headers[.idempotencyKey] = "mine"
        for request in [request(.post), request(.post), own, request(.get)] {
            let (result, _) = try await clock.moving { await provider.result(for: request) }
            #expect(try result.get().status == 200)
        }
        let expected = ["key 1", "key 2", "mine", "none"].flatMap { [$0, $0, $0] }
        #expect(keys.events == expected)
    }

    /// The attempts of the inner provider have its own key, which another request would not have.
    @Test(arguments: [(.connectionLost, 2), (.timedOut, 2), (.cannotConnect, 4)] as [(ApiConnectorError.Kind, Int)])
    func aPostThatAnInnerAttemptMayHaveDoneIsNotRetried(_ first: ApiConnectorError.Kind, _ count: Int) async throws {
        let keys = EventLog<String>()
        let outer = RetryPolicy(maximumAttemptCount: 2, initialDelay: .zero, maximumDelay: .zero)
        var inner = outer
        inner.idempotencyKey = RetryPolicy.randomKey
        let provider = TestConnector { request in
            keys.note(request.headers[.idempotencyKey] ?? "none")
            return .failing(keys.events.count % 2 == 1 ? first : .cannotConnect)
        }
        .retrying(inner)
        .retrying(outer)
        let error = await #expect(throws: ApiConnectorError.self) { try await provider.response(for: request(.post)) }
        #expect(error?.kind == .cannotConnect)
        #expect(keys.events.count == count)
    }

    @Test func theAttemptsOfAnInnerRetryingProviderAreListed() async throws {
        let sent = EventLog<String>()
        let policy = RetryPolicy(maximumAttemptCount: 2, initialDelay: .zero, maximumDelay: .zero)
        let kinds: [ApiConnectorError.Kind] = [.connectionLost, .cannotConnect, .timedOut, .stalled]
        let provider = TestConnector { request in
            sent.note(request.url.path())
            return .failing(kinds[sent.events.count - 1])
        }
        .retrying(policy)
        .retrying(policy)
        let error = await #expect(throws: ApiConnectorError.self) { try await provider.response(for: request()) }
        #expect(error?.kind == .stalled)
        #expect(error?.earlierAttempts.map(\.kind) == [.connectionLost, .cannotConnect, .timedOut])
    }

    /// The last attempt of the inner provider has its own time, not that of the whole inner run.
    @Test func theTimeOfAnInnerAttemptCountsOnce() async throws {
        let policy = RetryPolicy.halfWay { $0.maximumAttemptCount = 2 }
        let provider = TestConnector { _ in .failing(.connectionLost) }.retrying(policy).retrying(policy)
        let start = clock.now
        let (result, _) = try await clock.moving { [request = request()] in await provider.result(for: request) }
        let error = try #require(throws: ApiConnectorError.self) { try result.get() }
        #expect(error.earlierAttempts.map(\.duration) == [.zero, .zero, .zero])
        let waits = error.earlierAttempts.map(\.wait)
        #expect(waits.allSatisfy { $0 > .zero })
        #expect(waits.reduce(.zero, +) == clock.now - start)
    }

    /// The attempt that was lost may have been processed with the key.
    @Test func aPostKeepsItsIdempotencyKeyAfterARefresh() async throws {
        let keys = EventLog<String>()
        let policy = RetryPolicy(initialDelay: .zero, maximumDelay: .zero, idempotencyKey: RetryPolicy.randomKey)
        let session = RefreshableCredentials(.bearer("old"), timeSource: clock) { _ in .bearer("new") }
        let own = try #require(URL(string: "http://api.example.com"))
        let provider = TestConnector { request in
            keys.note(request.headers[.idempotencyKey] ?? "none")
            if keys.events.count == 1 { return .failing(.connectionLost) }
            return request.headers[.authorization] == "Bearer new" ? .fine : .status(401)
        }
        .retrying(policy)
        .authenticating(by: session, for: .origins(own))
        #expect(try await provider.response(for: request(.post)).status == 200)
        #expect(keys.events.count == 3)
        #expect(Set(keys.events).count == 1)
    }

    @Test func aPostKeepsItsIdempotencyKeyAfterARedirect() async throws {
        let keys = EventLog<String>()
        let policy = RetryPolicy(initialDelay: .zero, maximumDelay: .zero, idempotencyKey: RetryPolicy.randomKey)
        let provider = TestConnector { request in
            keys.note(request.headers[.idempotencyKey] ?? "none")
            switch keys.events.count {
            case 1: return .failing(.connectionLost)
            case 2: return .status(307, headers: ["Location": "/end"])
            default: return .fine
            }
        }
        let url = try #require(URL(string: "http://mytestserver.com/start"))
        let api = connection(over: provider.retrying(policy))
        let response = try await api.response(at: url, method: .post, body: .text("once"))
        #expect(response.url.path() == "/end")
        #expect(keys.events.count == 3)
        #expect(Set(keys.events).count == 1)
    }

    @Test(arguments: [303, 307] as [HTTPStatus], [false, true])
    func aRedirectKeepsTheEarlierAttempts(_ status: HTTPStatus, isChosenByThePolicy: Bool) async throws {
        let keys = EventLog<String>()
        let policy = RetryPolicy(initialDelay: .zero, maximumDelay: .zero, idempotencyKey: RetryPolicy.randomKey)
        let provider = TestConnector { request in
            keys.note(request.headers[.idempotencyKey] ?? "none")
            switch keys.events.count {
            case 1: return .failing(.connectionLost)
            case 2: return .status(status, headers: ["Location": "/end"])
            default: return .fine
            }
        }
        let url = try #require(URL(string: "http://mytestserver.com/start"))
        let api = connection(over: provider.retrying(policy))
        let own = RedirectPolicy.ask { _, next in .follow(ApiRequest(url: next.url)) }
        let options = CallOptions(redirects: isChosenByThePolicy ? own : .standard)
        let response = try await api.response(at: url, method: .post, body: .text("once"), options: options)
        #expect(response.url.path() == "/end")
        #expect(response.request.earlierAttempts.map(\.kind) == [.connectionLost])
        #expect(keys.events.count == 3)
        // A GET is another request, so it does not have the key of the POST.
        if status == 303 || isChosenByThePolicy { #expect(keys.events.last == "none") }
    }

    @Test func theStandardIdempotencyKeyIsUniquePerCall() {
        #expect(RetryPolicy.randomKey() != RetryPolicy.randomKey())
        #expect(UUID(uuidString: RetryPolicy.randomKey()) != nil)
    }

    @Test func aCancelEndsTheWaitAtOnce() async throws {
        let api = connection(over: TestConnector { _ in .status(503) }.retrying(.halfWay))
        let call = Task { try await api.send(at: .me) }
        #expect(try await clock.nextSleep() == .milliseconds(250))
        call.cancel()
        let result = await call.result
        let error = try #require(throws: ApiConnectorError.self) { try result.get() }
        #expect(error.kind == .cancelled)
        #expect(error.earlierAttempts.map(\.status) == [503])
        #expect(clock.sleeperCount == 0)
    }

    @Test func aCanceledCallIsNotRetried() async throws {
        let sent = EventLog<Int>()
        let gate = Gate("the cancel")
        let api = connection(
            over: TestConnector { request in
                sent.note(request.attempt)
                gate.open()
                return .never
            }.retrying(.halfWay)
        )
        let call = Task { try await api.send(at: .me) }
        try await gate.opened()
        call.cancel()
        let result = await call.result
        let error = try #require(throws: ApiConnectorError.self) { try result.get() }
        #expect(error.kind == .cancelled)
        #expect(sent.events == [1])
    }

    // MARK: - Limits of time

    @Test func theAttemptTimeoutAppliesToEachAttempt() async throws {
        let asked = Gate("the first attempt")
        let provider = TestConnector { request in
            asked.open()
            return request.attempt < 3 ? .never : .fine
        }.retrying(.halfWay)
        let api = connection(over: provider, Timeouts(attempt: .seconds(10), stall: Timeouts.noLimit))
        let call = Task { try await api.data(at: .me) }
        try await asked.opened()
        try await clock.step(.seconds(10), .milliseconds(250), .seconds(10), .milliseconds(500))
        #expect(try await call.value == Data("fine".utf8))
        #expect(clock.now == .milliseconds(20_750))
    }

    @Test func aStalledAttemptIsRetried() async throws {
        let asked = Gate("the first attempt")
        let provider = TestConnector { request in
            asked.open()
            return request.attempt < 2 ? .never : .fine
        }.retrying(.halfWay)
        let api = connection(over: provider, Timeouts(stall: .seconds(60)))
        let call = Task { try await api.data(at: .me) }
        try await asked.opened()
        try await clock.step(.seconds(60), .milliseconds(250))
        #expect(try await call.value == Data("fine".utf8))
    }

    @Test func theDeadlineAppliesDuringARetryDelay() async throws {
        let gate = Gate("the second attempt")
        let provider = TestConnector { request in
            if request.attempt < 2 { return .status(503) }
            gate.open()
            return .never
        }.retrying(.halfWay)
        let api = connection(over: provider, Timeouts(attempt: .seconds(50), overall: .seconds(20)))
        let call = Task { () async throws(ApiConnectorError) in try await api.data(at: .me) }
        try await clock.step(.milliseconds(250))
        try await gate.opened()
        clock.advance(by: .milliseconds(19_750))
        let result = await call.result
        let error = try #require(throws: ApiConnectorError.self) { try result.get() }
        #expect(error.kind == .deadlineExceeded)
        #expect(clock.now == .seconds(20))
        #expect(error.earlierAttempts.count == 1)
    }

    @Test func aTruncatedCollectedBodyIsRetried() async throws {
        let provider = TestConnector { request in
            request.attempt < 2 ? .data(Data("half a body".utf8)).failing(.afterByteCount(4)) : .fine
        }
        let api = connection(over: provider.retrying(.halfWay))
        let (result, _) = try await clock.moving {
            await Result { () async throws(ApiConnectorError) in try await api.data(at: .me) }
        }
        #expect(try result.get() == Data("fine".utf8))
    }

    // MARK: - Events

    @Test func reportsAttemptsAndDecisionsToObservers() async throws {
        let recorder = EventRecorder()
        let answers: [TestConnectorResponse] = [.retryAfter("1"), .failing(.connectionLost), .status(404)]
        let provider = TestConnector { answers[$0.attempt - 1] }.retrying(.halfWay)
            .observing(by: recorder, timeSource: clock)
        _ = try await clock.moving { [request = request()] in await provider.result(for: request) }
        #expect(
            recorder.texts.filter { !$0.hasPrefix("attempt took ") } == [
                "started", "attempt started", "retrying after 1.25 seconds because of 503", "attempt started",
                "retrying after 0.5 seconds because of connectionLost", "attempt started",
                "not retrying because of notTransient", "head 404 Not Found",
                "finished: 404 Not Found after 1.75 seconds, 0 bytes in 3 attempts",
            ]
        )
        #expect(Set(recorder.events.map(\.call)).count == 1)
    }

    // MARK: - Chance

    @Test func theDelayIsARandomPartOfADoublingTime() async throws {
        let random = Locked(SplitMix64.printed())
        let policy = RetryPolicy(
            maximumAttemptCount: 5,
            budget: .unlimited,
            random: { random.withLock { Double.random(in: 0..<1, using: &$0) } }
        )
        let provider = TestConnector { _ in .status(503) }.retrying(policy)
        var waits: [[Duration]] = []
        for _ in 0..<200 {
            let (result, _) = try await clock.moving { [request = request()] in await provider.result(for: request) }
            waits.append(try result.get().request.earlierAttempts.map(\.wait))
        }
        for number in 0..<4 {
            let most = Duration.milliseconds(500 << number)
            let these = waits.map { $0[number] }
            #expect(these.allSatisfy { $0 >= .zero && $0 < most })
            #expect(these.contains { $0 < most / 10 })
            #expect(these.contains { $0 > most * 0.9 })
        }
    }
}

/// Loses every connection, and says how much of the request was sent.
private final class LosingProvider: DataRequestType {
    let bytesSent: ApiConnectorError.SentBytes?
    let count = Locked(0)

    init(bytesSent: ApiConnectorError.SentBytes?) {
        self.bytesSent = bytesSent
    }

    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        count.withLock { $0 += 1 }
        var error = ApiConnectorError(.connectionLost, "it is gone", request: request)
        error.bytesSent = bytesSent
        throw error
    }
}
