// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTesting
import Testing

@testable import ApiConnector
@testable import ApiConnectorTraffic

@Suite(.timeLimit(.minutes(10))) struct LimitedTests {
    private let clock = ManualClock()
    private let timers: TimerQueue
    private let server = HeldServer()

    init() {
        timers = TimerQueue.on(clock)
    }
}

extension LimitedTests {
    private typealias Call = Task<Result<ApiResponse, ApiConnectorError>, Never>

    private func send(_ request: ApiRequest, over provider: some DataRequestType) -> Call {
        Task { await provider.result(for: request) }
    }

    /// A provider with one place, and the call that has it.
    private func full() async throws -> (provider: Limited<HeldServer>, first: Call) {
        let provider = Limited(server, RequestLimit(concurrent: 1))
        let first = send(.made(on: timers), over: provider)
        try await server.has(1)
        return (provider, first)
    }

    /// A call that waits for the one place of a provider.
    private func waiting(for provider: Limited<HeldServer>) async -> Call {
        let call = send(.made(on: timers), over: provider)
        await eventually { provider.waiterCount == 1 }
        return call
    }

    @Test func eachHostHasItsOwnLimit() async throws {
        let provider = Limited(server, RequestLimit(concurrent: 1))
        let one = send(.made("one.example.com", on: timers), over: provider)
        let two = send(.made("two.example.com", on: timers), over: provider)
        // An explicit default port is the same host.
        try await server.has(2)
        let same = send(.made("one.example.com:80", on: timers), over: provider)
        await eventually { provider.waiterCount == 1 }
        #expect(server.requests.count == 2)
        server.calmDown()
        for task in [one, two, same] { #expect(try await task.value.get().status == 200) }
        #expect(server.mostOpen == ["one.example.com": 1, "two.example.com": 1])
    }

    private func key(of request: ApiRequest) throws -> LimitQueues.Key {
        LimitQueues.Key(
            origin: try #require(HTTPOrigin(request.url)),
            routeClass: "",
            scale: ObjectIdentifier(timers)
        )
    }

    /// So a test of retries or limits can wait for it, while the calls have time limits.
    @Test func theClockOfATestReportsTheWaitForARateAsAWait() async throws {
        let provider = Limited(server, RequestLimit(rate: RequestRate(1, per: .seconds(4))))
        let limit = clock.schedule(at: .seconds(30)) {}
        let first = send(.made(on: timers), over: provider)
        try await server.has(1)
        let second = send(.made(deadline: .seconds(20), on: timers), over: provider)
        #expect(try await clock.nextSleep(of: .wait) == .seconds(4))
        clock.advance(by: .seconds(4))
        try await server.has(2)
        server.calmDown()
        for call in [first, second] { #expect(try await call.value.get().status == 200) }
        limit()
    }

    @Test func aSlotIsReleasedOnce() async throws {
        let queues = LimitQueues(RequestLimit(concurrent: 2))
        let request = ApiRequest.made(on: timers)
        let first = try await queues.enter(key(of: request), request)
        let second = try await queues.enter(key(of: request), request)
        first.release()
        first.release()
        #expect(queues.inFlightCount == 1)
        second.release()
    }

    /// An adaptive limit would otherwise keep the queue of each host.
    @Test func emptyQueuesAreForgottenIfThereAre256() async throws {
        let queues = LimitQueues(RequestLimit(concurrent: .adaptive()))
        func send(_ number: Int) async throws {
            let request = ApiRequest.made("\(number).example.com", on: timers)
            try await queues.enter(key(of: request), request).release()
        }
        for number in 1...256 { try await send(number) }
        #expect(queues.count == 256)
        try await send(1)
        #expect(queues.count == 256)
        try await send(257)
        #expect(queues.count == 1)
    }

    @Test func aRouteClassHasItsOwnLimit() async throws {
        let provider = Limited(server, RequestLimit(concurrent: 1)) { $0.url.path() == "/search" ? "search" : nil }
        let tasks = ["/search", "/search", "/item", "/item"].map { send(.made(path: $0, on: timers), over: provider) }
        try await server.has(3)
        await eventually { provider.waiterCount == 1 }
        #expect(server.requests.map { $0.url.path() }.sorted() == ["/item", "/item", "/search"])
        server.calmDown()
        for task in tasks { _ = try await task.value.get() }
        #expect(provider.queueCount == 0)
    }

    @Test(arguments: [
        (HeldServer.Answer.status(429), 1), (.status(503), 1), (.failure(.timedOut), 1), (.failure(.stalled), 1),
        (.failure(.cannotConnect), 1), (.failure(.connectionLost), 1), (.status(200), 2), (.status(404), 2),
        (.failure(.invalidRequest), 2), (.failure(.deadlineExceeded), 2),
    ]) func anAdaptiveLimitDecreasesWhenTheServerIsOverloaded(_ answer: HeldServer.Answer, _ limit: Int) async throws {
        let provider = Limited(server, RequestLimit(concurrent: .adaptive(in: 1...2, initialCount: 2)))
        let first = send(.made(on: timers), over: provider)
        try await server.has(1)
        server.answer(0, answer)
        _ = await first.value
        let tasks = (0..<3).map { _ in send(.made(on: timers), over: provider) }
        try await server.has(1 + limit)
        await eventually { provider.waiterCount == 3 - limit }
        #expect(server.held.count == limit)
        server.calmDown()
        for task in tasks { _ = try await task.value.get() }
        // The provider keeps the learned limit.
        #expect(provider.queueCount == 1)
    }

    @Test func aCallsPriorityComesFromItsOptions() async throws {
        let provider = Limited(server, RequestLimit(concurrent: 1))
        let configuration = ConnectionConfiguration(timeouts: .unlimited, timeSource: clock)
        let api = NetworkConnector(
            environment: .test,
            provider: provider,
            router: Router.self,
            configuration: configuration
        )
        let first = Task { try await api.response(at: .me) }
        try await server.has(1)
        var others: [Task<ApiResponse, any Error>] = []
        for (index, priority) in [CallPriority.low, .normal, .high].enumerated() {
            let options = CallOptions(headers: ["X-Priority": "\(priority)"], priority: priority)
            others.append(Task { try await api.response(at: .me, options: options) })
            await eventually { provider.waiterCount == index + 1 }
        }
        for number in 0..<4 {
            try await server.has(number + 1)
            server.answer(number, .status(204))
        }
        _ = try await first.value
        for task in others { _ = try await task.value }
        #expect(server.requests.dropFirst().map { $0.headers["X-Priority"] } == ["high", "normal", "low"])
    }

    @Test func aCanceledWaiterEndsAtOnceAndTakesNoSlot() async throws {
        let (provider, first) = try await full()
        let waiting = await waiting(for: provider)
        waiting.cancel()
        // The server still holds its answer.
        #expect(await waiting.value.failure?.kind == .cancelled)
        #expect(server.held == [0])
        server.answer(0)
        _ = try await first.value.get()
        #expect(server.requests.count == 1)
        #expect(provider.queueCount == 0)
    }

    @Test func aCanceledRequestReleasesItsSlot() async throws {
        let (provider, first) = try await full()
        let second = await waiting(for: provider)
        first.cancel()
        #expect(await first.value.failure?.kind == .cancelled)
        try await server.has(2)
        server.answer(1)
        _ = try await second.value.get()
    }

    @Test(arguments: ["read", "broken", "dropped", "cancelled"]) func aStreamKeepsItsSlotUntilItsEnd(_ end: String)
        async throws
    {
        let provider = Limited(server, RequestLimit(concurrent: 1))
        // Its result is kept as long as the task is.
        var first: Call? = send(.made(streamed: true, on: timers), over: provider)
        try await server.has(1)
        server.answer(0, .stream)
        var response: ApiResponse? = try await first?.value.get()
        first = nil
        let second = await waiting(for: provider)
        #expect(server.requests.count == 1)
        switch end {
        case "read":
            server.endBody(0)
            #expect(try await response?.body.collect(upTo: 10) == Data())
        case "broken":
            server.endBody(0, failing: .connectionLost)
            let error = await #expect(throws: ApiConnectorError.self) { try await response?.body.collect(upTo: 10) }
            #expect(error?.kind == .connectionLost)
        case "dropped":
            response = nil
        default:
            let body = response?.body
            let reader = Task { try await body?.collect(upTo: 10) }
            reader.cancel()
            _ = await reader.result
        }
        try await server.has(2)
        server.answer(1)
        _ = try await second.value.get()
        #expect(server.mostOpen == ["one.example.com": 1])
        _ = response
    }

    @Test func aWaitEndsAtTheDeadline() async throws {
        let (provider, first) = try await full()
        // By hand, and as a connection sends it.
        let late = send(.made(deadline: .seconds(5), on: timers), over: provider)
        let request = ApiRequest.made(deadline: .seconds(5), on: timers)
        let watched = Task {
            await Result { () async throws(ApiConnectorError) in try await provider.attempt(request, within: .unlimited)
            }
        }
        await eventually { provider.waiterCount == 2 && timers.entryCount == 2 }
        clock.advance(by: .seconds(5))
        #expect(await late.value.failure?.kind == .deadlineExceeded)
        #expect(await watched.value.failure?.kind == .deadlineExceeded)
        server.answer(0)
        _ = try await first.value.get()
        #expect(server.requests.count == 1)
    }

    @Test func aDeadlineThatCannotBeKeptFailsAtOnce() async throws {
        let provider = Limited(server, RequestLimit())
        let first = send(.made(on: timers), over: provider)
        try await server.has(1)
        server.answer(0, .status(429, ["Retry-After": "30"]))
        _ = try await first.value.get()
        let error = await send(.made(deadline: .seconds(20), on: timers), over: provider).value.failure
        #expect(
            error?.description
                == "GET http://one.example.com/ failed (deadlineExceeded): the request limit lets it start in 30.0 "
                + "seconds at the earliest, after its deadline. Raise the call's timeout, or request less."
        )
        #expect(clock.now == .zero)
    }

    @Test func theWaitDoesNotCountForTheAttemptTimeout() async throws {
        let (provider, first) = try await full()
        let request = ApiRequest.made(on: timers)
        let second = Task {
            await Result { () async throws(ApiConnectorError) in
                try await provider.attempt(request, within: Timeouts(attempt: .seconds(2), stall: .seconds(1)))
            }
        }
        await eventually { provider.waiterCount == 1 }
        clock.advance(by: .seconds(10))
        server.answer(0)
        _ = try await first.value.get()
        try await server.has(2)
        await eventually { timers.entryCount == 2 }
        clock.advance(by: .seconds(1))
        #expect(await second.value.failure?.kind == .stalled)
    }

    @Test func aRefreshDoesNotWait() async throws {
        let limited = Limited(server, RequestLimit(concurrent: 1))
        let refreshRequest = ApiRequest.made(path: "/token", on: timers)
        let session = RefreshableCredentials(timeSource: clock) { _ in
            _ = try await limited.response(for: refreshRequest)
            return .bearer("new")
        }
        // The limit outside of what waits for the refresh: the call that needs it holds the only place.
        let scope = CredentialScope.origins(URL(string: "http://one.example.com") ?? URL(filePath: ""))
        let provider = limited.authenticating(by: session, for: scope).limiting(RequestLimit(concurrent: 1))
        // And the only place inside, too, by another.
        let other = send(.made(path: "/other", on: timers), over: limited)
        try await server.has(1)
        let call = send(.made(on: timers), over: provider)
        await eventually { server.requests.count == 2 || limited.waiterCount == 1 }
        #expect(server.requests.map { $0.url.path() } == ["/other", "/token"])
        server.calmDown()
        #expect(try await call.value.get().status == 200)
        _ = try await other.value.get()
    }

    @Test func aLimitAroundTheRefreshItselfDoesNotDeadlock() async throws {
        let box = Locked<AnyProvider?>(nil)
        let session = RefreshableCredentials(timeSource: clock) { _ in
            _ = try await box.withLock { $0 }?.response(for: .made(path: "/token", on: timers))
            return .bearer("new")
        }
        let scope = CredentialScope.origins(URL(string: "http://one.example.com") ?? URL(filePath: ""))
        let provider = AnyProvider(
            server.authenticating(by: session, for: scope).limiting(RequestLimit(concurrent: 1))
        )
        box.withLock { $0 = provider }
        server.calmDown()
        #expect(try await send(.made(on: timers), over: provider).value.get().status == 200)
        #expect(server.requests.map { $0.url.path() } == ["/token", "/"])
        box.withLock { $0 = nil }
    }

    @Test func aWaitIsReportedToObservers() async throws {
        let recorder = EventRecorder()
        let provider = Limited(server, RequestLimit(rate: RequestRate(1, per: .seconds(2))))
        let observed = provider.observing(by: recorder)
        server.calmDown()
        _ = try await send(.made(on: timers), over: observed).value.get()
        let second = send(.made(on: timers), over: observed)
        await eventually { provider.waiterCount == 1 && clock.sleeperCount == 1 }
        clock.advance(by: .seconds(2))
        _ = try await second.value.get()
        #expect(recorder.texts.filter { $0.hasPrefix("limited") } == ["limited for 2.0 seconds because of rate"])
    }

    @Test(arguments: [true, false]) func theWaitIsInTheTimesOutsideTheLimit(_ succeeds: Bool) async throws {
        let recorder = EventRecorder()
        let clock = clock
        let transport = TestConnector { _ in
            clock.advance(by: .seconds(1))
            if succeeds { return .status(200) }
            throw ApiConnectorError(.connectionLost, "the server closed the connection")
        }
        let limit = RequestLimit(rate: RequestRate(1, per: .seconds(4)))
        let provider = Limited(transport.observing(by: recorder), limit)
        let first = await send(.made(on: timers), over: provider).value.times
        let second = send(.made(on: timers), over: provider)
        await eventually { provider.waiterCount == 1 }
        clock.advance(by: .seconds(3))
        let times = await second.value.times
        #expect(first?[.waiting] == nil)
        #expect(times?[.waiting] == .seconds(3))
        #expect(times?[.responseWait] == .seconds(1))
        #expect(times?.sentence == "Waiting for a connection or a limit took 3.0 of 4.0 s.")
        let inner = recorder.events.compactMap { event in
            if case .finished(let totals) = event.kind { totals.times } else { nil }
        }
        #expect(inner.map { $0[.responseWait] } == [.seconds(1), .seconds(1)])
        #expect(inner.map { $0[.waiting] } == [nil, nil])
    }

    @Test func aCallThatHasOnlyWaitedSaysSo() async throws {
        let (provider, first) = try await full()
        let late = send(.made(deadline: .seconds(5), on: timers), over: provider)
        await eventually { provider.waiterCount == 1 && timers.entryCount == 1 }
        clock.advance(by: .seconds(5))
        let error = try #require(await late.value.failure)
        #expect(TransportTimes.Phase.allCases.filter { error.times?[$0] != nil } == [.waiting])
        #expect(error.description.contains("Waiting for a connection or a limit took 5.0 of 5.0 s."))
        server.answer(0)
        _ = try await first.value.get()
    }

    @Test func connectionsOnOneClockShareALimitEvenIfOneIsReleased() async throws {
        let provider = Limited(server, RequestLimit(rate: RequestRate(1, per: .seconds(1))))
        server.calmDown()
        _ = try await provider.response(for: .made(on: timers))
        var other: TimerQueue? = TimerQueue.on(clock)
        var first: Task? = send(.made(on: try #require(other)), over: provider)
        await eventually { provider.waiterCount == 1 }
        let second = send(.made(on: timers), over: provider)
        await eventually { provider.waiterCount == 2 && clock.sleeperCount == 1 }
        first?.cancel()
        #expect(await first?.value.failure?.kind == .cancelled)
        (first, other) = (nil, nil)
        clock.advance(by: .seconds(1))
        await eventually { provider.waiterCount == 0 }
        try #require(provider.waiterCount == 0)
        _ = try await second.value.get()
    }

    @Test func connectionsOnDifferentClocksHaveSeparateLimits() async throws {
        let provider = Limited(server, RequestLimit(rate: RequestRate(1, per: .seconds(1))))
        server.calmDown()
        clock.advance(by: .seconds(1000))
        _ = try await provider.response(for: .made(on: timers))
        let other = TimerQueue.on(ManualClock())
        #expect(await provider.result(for: .made(deadline: .seconds(5), on: other)).failure == nil)
        #expect(provider.queueCount == 2)
    }

    @Test func unusedHostsAreForgotten() async throws {
        let provider = Limited(server, RequestLimit(rate: RequestRate(1, per: .seconds(1000))))
        server.calmDown()
        for number in 0..<300 {
            _ = try await provider.response(for: .made("h\(number).example.com", on: timers))
        }
        #expect(provider.queueCount <= LimitQueues.maximumCount)
    }
}

extension Result {
    /// Why it failed; nil where it did not.
    var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}

extension Result<ApiResponse, ApiConnectorError> {
    fileprivate var times: TransportTimes? {
        switch self {
        case .success(let response): response.times
        case .failure(let error): error.times
        }
    }
}
