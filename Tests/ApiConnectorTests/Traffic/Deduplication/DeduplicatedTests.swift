// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTesting
import Testing

@testable import ApiConnector
@testable import ApiConnectorTraffic

/// `deduplicated`: which calls share a request, and what happens to them when one of them is canceled.
@Suite(.timeLimit(.minutes(10))) struct DeduplicatedTests {
    private let clock = ManualClock()
    private let server = HeldServer()
    private let events = EventRecorder()

    private let queue: TimerQueue
    private let provider: Deduplicated<HeldServer>
    private let observed: AnyProvider

    init() {
        queue = TimerQueue.on(clock)
        provider = Deduplicated(server)
        observed = AnyProvider(provider.observing(by: events))
    }
}

extension DeduplicatedTests {
    private typealias Kind = ApiConnectorError.Kind

    private func request(_ path: String = "/a", headers: HTTPHeaders = HTTPHeaders()) throws -> ApiRequest {
        var request = ApiRequest(url: try #require(URL(string: "http://h\(path)")), headers: headers)
        request.timers = queue
        return request
    }

    private func start(_ request: ApiRequest) -> Task<String, Never> {
        Task { [observed] in
            do throws(ApiConnectorError) {
                let response = try await observed.attempt(request, within: .unlimited)
                return String(decoding: try await response.body.collect(upTo: 1000), as: UTF8.self)
            } catch {
                return error.kind.rawValue
            }
        }
    }

    @Test func sendsOneRequestForIdenticalConcurrentCalls() async throws {
        let calls = try (0..<5).map { _ in start(try request()) }
        try await events.has(4, "joined")
        try await server.has(1)
        server.answer(0)
        for call in calls { #expect(await call.value == "/a as nobody") }
        #expect(server.requests.count == 1)
        #expect(provider.calls.count == 0)
    }

    @Test func sendsANewRequestAfterTheFirstHasEnded() async throws {
        for number in 0..<2 {
            let call = start(try request())
            try await server.has(number + 1)
            server.answer(number)
            #expect(await call.value == "/a as nobody")
        }
        #expect(server.requests.count == 2)
    }

    struct Pair: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let isShared: Bool
        let change: @Sendable (inout ApiRequest) -> Void

        init(_ name: String, shared isShared: Bool, _ change: @escaping @Sendable (inout ApiRequest) -> Void) {
            (testDescription, self.isShared, self.change) = (name, isShared, change)
        }
    }

    static let pairs = [
        Pair("nothing", shared: true) { _ in },
        Pair("the default port", shared: true) { $0.url = URL(string: "http://h:80/a?q=1") ?? $0.url },
        Pair("the host's case", shared: true) { $0.url = URL(string: "http://H/a?q=1") ?? $0.url },
        Pair("a fragment", shared: true) { $0.url = URL(string: "http://h/a?q=1#f") ?? $0.url },
        Pair("the order of fields", shared: true) { $0.headers = ["B": "2", "A": "1"] },
        Pair("a field's case", shared: true) { $0.headers = ["a": "1", "b": "2"] },
        Pair("a deadline", shared: true) { $0.deadline = .seconds(100) },
        Pair("upload progress", shared: true) { $0.uploadProgress = UploadProgress() },
        Pair("the priority that is the default", shared: true) { $0.priority = .normal },
        Pair("the encoder", shared: false) {
            $0.use(RequestSettings($0.timers, $0.limits, JSONCoders(JSONEncoder(), JSONDecoder())))
        },
        Pair("the scale of a clock in a struct", shared: false) { $0.timeSource = BorrowedClock(clock: ManualClock()) },
        Pair("the query", shared: false) { $0.url = URL(string: "http://h/a?q=2") ?? $0.url },
        Pair("the path's case", shared: false) { $0.url = URL(string: "http://h/A?q=1") ?? $0.url },
        Pair("the scheme", shared: false) { $0.url = URL(string: "https://h/a?q=1") ?? $0.url },
        Pair("the port", shared: false) { $0.url = URL(string: "http://h:8080/a?q=1") ?? $0.url },
        Pair("user info", shared: false) { $0.url = URL(string: "http://u:p@h/a?q=1") ?? $0.url },
        Pair("HEAD", shared: false) { $0.method = .head },
        Pair("a credential", shared: false) { $0.headers[.authorization] = "Bearer x" },
        Pair("a cookie", shared: false) { $0.headers[.cookie] = "a=b" },
        Pair("a field's value", shared: false) { $0.headers["A"] = "2" },
        Pair("a second field", shared: false) { $0.headers.append("A", "1") },
        Pair("a range", shared: false) { $0.headers[.range] = "bytes=0-" },
        Pair("the largest body", shared: false) { $0.delivery = .collected(upTo: 5000) },
        Pair("a stream", shared: false) { $0.delivery = .streamed },
        Pair("POST", shared: false) { $0.method = .post },
        Pair("a body", shared: false) { $0.body = .text("x") },
        Pair("the priority", shared: false) { $0.priority = .high },
        Pair("time's scale", shared: false) { $0.timeSource = ManualClock() },
        Pair("whether it is the connection's own origin", shared: false) {
            $0.begin(CallContext(environment: Place(host: "h")))
        },
    ]

    @Test(arguments: pairs)
    func sharesOnlyIdenticalCalls(_ pair: Pair) async throws {
        let first = try request("/a?q=1", headers: ["A": "1", "B": "2"])
        var second = first
        pair.change(&second)
        let calls = [start(first)]
        try await server.has(1)
        let other = start(second)
        if pair.isShared { try await events.has(1, "joined") } else { try await server.has(2) }
        #expect(server.requests.count == (pair.isShared ? 1 : 2))
        server.calmDown()
        for call in calls + [other] { _ = await call.value }
    }

    /// Two values of this type have different scales.
    private struct BorrowedClock: TimeSource {
        let clock: ManualClock

        var now: Duration { clock.now }
        var date: Date { clock.date }
        var scale: ObjectIdentifier { clock.scale }

        func sleep(until deadline: Duration) async throws { try await clock.sleep(until: deadline) }
    }

    @Test func anObjectHasItsOwnScaleAndAStructHasTheScaleOfItsClock() {
        let (one, other) = (ManualClock(), ManualClock())
        let scales = [one, other, BorrowedClock(clock: one), BorrowedClock(clock: other)].map {
            (source: any TimeSource) in
            source.scale
        }
        #expect(scales == [scales[0], scales[1], scales[0], scales[1]])
        #expect(scales[0] != scales[1])
    }

    /// A value whose comparison asks for the lock of the shared calls.
    private struct Asking: Hashable {
        let calls: SharedCalls

        static func == (one: Asking, other: Asking) -> Bool { one.calls.count >= 0 }

        func hash(into hasher: inout Hasher) { hasher.combine(calls.count) }
    }

    private enum AskingValue: RequestValueKey {
        static let defaultValue: Asking? = nil
    }

    @Test func comparesUserValuesOutsideItsLock() async throws {
        var request = try request()
        request.values[AskingValue.self] = Asking(calls: provider.calls)
        let calls = [start(request), start(request)]
        try await events.has(1, "joined")
        try await server.has(1)
        server.answer(0)
        for call in calls { #expect(await call.value == "/a as nobody") }
    }

    @Test(arguments: [HTTPMethod.get, .post]) func doesNotShareStreamsOrPosts(_ method: HTTPMethod) async throws {
        var request = try request()
        request.method = method
        if method == .get { request.delivery = .streamed }
        let calls = [start(request), start(request)]
        try await server.has(2)
        server.calmDown()
        for call in calls { #expect(await call.value == "/a as nobody") }
    }

    @Test(arguments: [0, 1, 2]) func aCanceledCallDoesNotEndTheOthers(_ canceled: Int) async throws {
        var calls: [Task<String, Never>] = []
        for number in 0..<3 {
            calls.append(start(try request()))
            if number == 0 { try await server.has(1) } else { try await events.has(number, "joined") }
        }
        calls[canceled].cancel()
        #expect(await calls[canceled].value == "cancelled")
        #expect(server.held == [0])
        server.answer(0)
        for (number, call) in calls.enumerated() where number != canceled {
            #expect(await call.value == "/a as nobody")
        }
        #expect(server.stoppedCount == 0)
    }

    @Test func cancelsTheRequestWithTheLastCall() async throws {
        let calls = [start(try request()), start(try request())]
        try await events.has(1, "joined")
        try await server.has(1)
        for call in calls { call.cancel() }
        for call in calls { #expect(await call.value == "cancelled") }
        #expect(server.stoppedCount == 1)
        #expect(provider.calls.count == 0)
        let next = start(try request())
        try await server.has(2)
        server.answer(1)
        #expect(await next.value == "/a as nobody")
    }

    @Test func failsAllWithOneFailure() async throws {
        let calls = try (0..<3).map { _ in start(try request()) }
        try await events.has(2, "joined")
        try await server.has(1)
        server.answer(0, .failure(.connectionLost))
        for call in calls { #expect(await call.value == "connectionLost") }
        #expect(server.requests.count == 1)
    }

    @Test func endsEachCallAtItsOwnDeadline() async throws {
        var hasty = try request()
        hasty.deadline = .seconds(5)
        let first = start(try request())
        try await server.has(1)
        let second = start(hasty)
        try await events.has(1, "joined")
        clock.advance(by: .seconds(5))
        #expect(await second.value == "deadlineExceeded")
        #expect(server.held == [0])
        server.answer(0)
        #expect(await first.value == "/a as nobody")
    }

    @Test func aJoinedCallEndsAtItsOwnDeadline() async throws {
        var hasty = try request()
        hasty.deadline = .seconds(5)
        let first = start(try request())
        try await server.has(1)
        let second = Task { [observed, hasty] in
            do throws(ApiConnectorError) {
                _ = try await observed.response(for: hasty)
                return "answered"
            } catch {
                return error.kind.rawValue
            }
        }
        try await events.has(1, "joined")
        clock.advance(by: .seconds(5))
        #expect(await second.value == "deadlineExceeded")
        server.answer(0)
        #expect(await first.value == "/a as nobody")
    }

    @Test func joinsNoRequestSentBeforeTheEndOfAnUnsafeOne() async throws {
        let first = start(try request())
        try await server.has(1)
        var unsafe = try request("/b")
        unsafe.method = .post
        let post = start(unsafe)
        try await server.has(2)
        let second = start(try request())
        try await events.has(1, "joined")
        server.answer(1)
        _ = await post.value
        let third = start(try request())
        try await server.has(3)
        let fourth = start(try request())
        try await events.has(2, "joined")
        #expect(provider.calls.count == 2)
        server.answer(0)
        for call in [first, second] { #expect(await call.value == "/a as nobody") }
        #expect(server.held == [2])
        server.answer(2)
        for call in [third, fourth] { #expect(await call.value == "/a as nobody") }
        #expect(provider.calls.count == 0)
    }

    @Test func sendsANewRequestForCallsWithALaterDeadline() async throws {
        var (hasty, patient) = (try request(), try request())
        hasty.deadline = .seconds(5)
        patient.deadline = .seconds(9)
        let first = start(hasty)
        try await server.has(1)
        let others = [start(patient), start(patient)]
        try await events.has(2, "joined")
        clock.advance(by: .seconds(5))
        #expect(await first.value == "deadlineExceeded")
        try await server.has(2)
        // One of them sends, for both.
        try await events.has(3, "joined")
        server.answer(1)
        for call in others { #expect(await call.value == "/a as nobody") }
        #expect(server.requests.count == 2)
    }

    @Test func doesNotShareTheRequestsOfARefresh() async throws {
        let first = start(try request())
        try await server.has(1)
        var request = try request()
        request.isCredentialRefresh = true
        let refresh = Task { [provider, request] in (try? await provider.response(for: request))?.status }
        try await server.has(2)
        server.answer(1)
        #expect(await refresh.value == 200)
        server.answer(0)
        #expect(await first.value == "/a as nobody")
    }

    @Test func givesEachCallItsOwnResponse() async throws {
        let provider = provider
        let redirect = Task { [request = try request()] in
            try await provider.observing(by: events).response(for: request)
        }
        try await server.has(1)
        let joiner = EventRecorder()
        let joined = Task { [request = try request()] in
            try await provider.observing(by: joiner).response(for: request)
        }
        try await joiner.has(1, "joined")
        server.answer(0, .status(302))
        try await redirect.value.request.report(.redirected(to: "one"))
        try await joined.value.request.report(.redirected(to: "two"))
        #expect(events.texts.contains("redirected to one"))
        #expect(!events.texts.contains("redirected to two"))
        #expect(joiner.texts.contains("redirected to two"))
    }

    @Test func appliesTheAttemptTimeoutsToTheRequest() async throws {
        let call = Task { [observed, request = try request()] in
            do throws(ApiConnectorError) {
                return try await observed.attempt(request, within: Timeouts(attempt: .seconds(3))).status.description
            } catch {
                return error.kind.rawValue
            }
        }
        try await server.has(1)
        clock.advance(by: .seconds(3))
        #expect(await call.value == "timedOut")
        #expect(server.stoppedCount == 1)
    }
}
