// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTesting
import Testing

@testable import ApiConnector
@testable import ApiConnectorTraffic

@Suite(.timeLimit(.minutes(10))) struct FailoverTests {
    private let clock = ManualClock()
    private let timers: TimerQueue
    init() {
        timers = TimerQueue.on(clock)
    }
}

extension FailoverTests {
    private typealias Answer = TestConnectorResponse
    private static let hosts = ["http://a.example.com", "https://b.example.com:8443", "http://c.example.com"]
        .compactMap { URL(string: $0) }

    /// Returns the response of each host by its first letter, and records the sent requests.
    private func provider(
        _ answers: [String: TestConnectorResponse],
        _ sent: EventLog<String>,
        credentials: CredentialScope = .connection
    ) -> some DataRequestType {
        TestConnector { request in
            sent.note(request.url.absoluteString)
            return answers[String((request.url.host() ?? "").prefix(1))] ?? .fine
        }
        .failingOver(to: Self.hosts, credentials: credentials)
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var method = HTTPMethod.get
        var key: String?
        var body = RequestBody.empty
        let answers: [String: TestConnectorResponse]
        let hosts: String

        init(
            _ name: String,
            _ method: HTTPMethod = .get,
            key: String? = nil,
            body: RequestBody = .empty,
            answers: [String: TestConnectorResponse],
            asks hosts: String
        ) {
            testDescription = name
            self.method = method
            self.key = key
            self.body = body
            self.answers = answers
            self.hosts = hosts
        }
    }

    private static let once = RequestBody.stream(isReplayable: false) { AsyncStream<Data> { $0.finish() } }

    static let cases: [Case] = [
        Case("a host that answers is the only one", answers: [:], asks: "a"),
        Case("no connection asks the next", answers: ["a": .failing(.cannotConnect)], asks: "ab"),
        Case("no address asks the next", answers: ["a": .failing(.nameNotResolved)], asks: "ab"),
        Case("an open circuit asks the next", answers: ["a": .failing(.circuitOpen)], asks: "ab"),
        Case("a broken connection asks the next", answers: ["a": .failing(.connectionLost)], asks: "ab"),
        Case("an attempt past its limit asks the next", answers: ["a": .failing(.timedOut)], asks: "ab"),
        Case("silence asks the next", answers: ["a": .failing(.stalled)], asks: "ab"),
        Case("a 503 asks the next, and so on", answers: ["a": .status(503), "b": .status(500)], asks: "abc"),
        Case("a 404 is an answer", answers: ["a": .status(404)], asks: "a"),
        Case("a 429 is an answer", answers: ["a": .status(429)], asks: "a"),
        Case("a bad certificate is not gone round", answers: ["a": .failing(.secureConnectionFailed)], asks: "a"),
        Case("a cancel is final", answers: ["a": .failing(.cancelled)], asks: "a"),
        Case("the deadline is final", answers: ["a": .failing(.deadlineExceeded)], asks: "a"),
        Case("a POST that was not sent asks the next", .post, answers: ["a": .failing(.cannotConnect)], asks: "ab"),
        Case("a POST that may have been done does not", .post, answers: ["a": .failing(.connectionLost)], asks: "a"),
        Case("a POST that was answered does not", .post, answers: ["a": .status(503)], asks: "a"),
        Case("a POST with a key does", .post, key: "k", answers: ["a": .status(503)], asks: "ab"),
        Case("a PUT does", .put, answers: ["a": .status(503)], asks: "ab"),
        Case("a body that comes once does not", .put, body: once, answers: ["a": .failing(.cannotConnect)], asks: "a"),
    ]

    @Test(arguments: cases) func theNextHostIsTriedIfThatIsSafe(_ row: Case) async {
        let sent = EventLog<String>()
        var request = ApiRequest.made("a.example.com", row.method, path: "/p/q?x=1", body: row.body, on: timers)
        if let key = row.key { request.headers[.idempotencyKey] = key }
        _ = await provider(row.answers, sent).result(for: request)
        let urls = [
            "a": "http://a.example.com/p/q?x=1", "b": "https://b.example.com:8443/p/q?x=1",
            "c": "http://c.example.com/p/q?x=1",
        ]
        #expect(sent.events == row.hosts.compactMap { urls[String($0)] })
    }

    private static let twiceWithAKey = RetryPolicy(
        maximumAttemptCount: 2,
        initialDelay: .zero,
        maximumDelay: .zero,
        idempotencyKey: RetryPolicy.randomKey
    )

    /// Notes the first letter of a request's host.
    private func note(_ request: ApiRequest, in sent: EventLog<String>) -> String {
        let host = String((request.url.host() ?? "").prefix(1))
        sent.note(host)
        return host
    }

    /// The attempts have the retrying provider's own key, which the next host would not get.
    @Test(
        arguments: [
            (.connectionLost, .circuitOpen, "aa"), (.timedOut, .cannotConnect, "aa"),
            (.cannotConnect, .circuitOpen, "aab"), (.nameNotResolved, .cannotConnect, "aab"),
        ] as [(ApiConnectorError.Kind, ApiConnectorError.Kind, String)]
    )
    func aPostThatAnEarlierAttemptMayHaveDoneDoesNotAskTheNext(
        _ first: ApiConnectorError.Kind,
        _ second: ApiConnectorError.Kind,
        _ hosts: String
    ) async {
        let sent = EventLog<String>()
        let retrying = TestConnector { request in
            let host = note(request, in: sent)
            return host == "a" ? .failing(request.attempt == 1 ? first : second) : .fine
        }
        .retrying(Self.twiceWithAKey)
        let request = ApiRequest.made("a.example.com", .post, on: timers)
        _ = await retrying.failingOver(to: Self.hosts).result(for: request)
        #expect(sent.events.joined() == hosts)
    }

    /// The first request of the call may have been processed with the retrying provider's key.
    @Test(arguments: [(.connectionLost, "aaaa"), (.cannotConnect, "aaaab")] as [(ApiConnectorError.Kind, String)])
    func aPostThatMayHaveBeenDoneBeforeARefreshDoesNotAskTheNext(
        _ first: ApiConnectorError.Kind,
        _ hosts: String
    ) async throws {
        let sent = EventLog<String>()
        let session = RefreshableCredentials(.bearer("old"), timeSource: clock) { _ in .bearer("new") }
        let own = try #require(Self.hosts.first)
        let provider = TestConnector { request in
            let host = note(request, in: sent)
            guard host == "a" else { return .fine }
            switch sent.events.count {
            case 1: return .failing(first)
            case 2: return .status(401)
            default: return .failing(.cannotConnect)
            }
        }
        .retrying(Self.twiceWithAKey)
        .authenticating(by: session, for: .origins(own))
        let request = ApiRequest.made("a.example.com", .post, on: timers)
        _ = await provider.failingOver(to: Self.hosts).result(for: request)
        #expect(sent.events.joined() == hosts)
    }

    /// The error of the second credential does not come from a request.
    @Test(arguments: [false, true])
    func aPostThatMayHaveBeenDoneBeforeACredentialFailsDoesNotAskTheNext(isAdding: Bool) async throws {
        let sent = EventLog<String>()
        let policy = RetryPolicy(
            maximumAttemptCount: 2,
            initialDelay: .zero,
            maximumDelay: .zero,
            idempotencyKey: RetryPolicy.randomKey
        )
        let unreachable = ApiConnectorError(.cannotConnect, "the key store cannot be reached")
        let source = ApiCredential.perRequest { _ in
            guard sent.events.count >= 2 else { return .bearer("old") }
            guard isAdding else { throw unreachable }
            // Fails when it is added to the request.
            var newer = ApiCredential.perRequest { _ in throw unreachable }
            newer.version = 1
            return newer
        }
        let own = try #require(Self.hosts.first)
        let provider = TestConnector { request in
            let host = String((request.url.host() ?? "").prefix(1))
            sent.note(host)
            guard host == "a" else { return .fine }
            return sent.events.count == 1 ? .failing(.connectionLost) : .status(401)
        }
        .retrying(policy)
        .authenticating(by: source, for: .origins(own))
        let request = ApiRequest.made("a.example.com", .post, on: timers)
        let error = await provider.failingOver(to: Self.hosts).result(for: request).failure
        #expect(sent.events.joined() == "aa")
        #expect(error?.kind == .cannotConnect)
        #expect(error?.earlierAttempts.map(\.kind) == [.connectionLost])
    }

    /// The outer provider's key is sent in the attempts of the inner provider, too.
    @Test(arguments: [(.connectionLost, "aaaa"), (.cannotConnect, "aaaab")] as [(ApiConnectorError.Kind, String)])
    func aPostThatTheFirstOfTwoRetryingProvidersMayHaveSentDoesNotAskTheNext(
        _ first: ApiConnectorError.Kind,
        _ hosts: String
    ) async {
        let sent = EventLog<String>()
        let inner = RetryPolicy(maximumAttemptCount: 2, initialDelay: .zero, maximumDelay: .zero)
        let provider = TestConnector { request in
            let host = note(request, in: sent)
            return host == "a" ? .failing(sent.events.count == 1 ? first : .cannotConnect) : .fine
        }
        .retrying(inner)
        .retrying(Self.twiceWithAKey)
        let request = ApiRequest.made("a.example.com", .post, on: timers)
        _ = await provider.failingOver(to: Self.hosts).result(for: request)
        #expect(sent.events.joined() == hosts)
    }

    @Test func theLastFailureIsDelivered() async throws {
        let sent = EventLog<String>()
        let answers: [String: Answer] = [
            "a": .failing(.cannotConnect), "b": .status(500), "c": .failing(.connectionLost),
        ]
        let error = await provider(answers, sent).result(for: .made("a.example.com", on: timers)).failure
        #expect(error?.kind == .connectionLost)
        #expect(sent.events.count == 3)
    }

    @Test func aFailedHostIsTriedLastForAWhile() async throws {
        let sent = EventLog<String>()
        let provider = provider(["a": .failing(.cannotConnect)], sent)
        func hosts() async throws -> String {
            let before = sent.events.count
            _ = try await provider.response(for: .made("a.example.com", on: timers))
            return sent.events.dropFirst(before).compactMap { URL(string: $0)?.host()?.first.map { String($0) } }
                .joined()
        }
        #expect(try await hosts() == "ab")
        clock.advance(by: .seconds(59))
        #expect(try await hosts() == "b")
        clock.advance(by: .seconds(1))
        #expect(try await hosts() == "ab")
        #expect(try await hosts() == "b")
    }

    @Test func aRequestToAnotherHostIsUnchanged() async throws {
        let sent = EventLog<String>()
        let answers: [String: Answer] = ["x": .status(503)]
        let response = try await provider(answers, sent).response(for: .made("x.example.com", on: timers))
        #expect(response.status == 503)
        #expect(sent.events == ["http://x.example.com/"])
    }

    @Test func eachFailoverIsReportedToObservers() async throws {
        let recorder = EventRecorder()
        let answers: [String: Answer] = ["a": .failing(.cannotConnect), "b": .status(503)]
        let observed = provider(answers, EventLog<String>()).observing(by: recorder)
        _ = try await observed.response(for: .made("a.example.com", on: timers))
        _ = try await observed.response(for: .made("a.example.com", on: timers))
        #expect(
            recorder.texts.filter { $0.hasPrefix("failed over") } == [
                "failed over to https://b.example.com:8443 because of cannotConnect",
                "failed over to http://c.example.com because of 503",
                "failed over to http://c.example.com because of remembered",
            ]
        )
    }

    enum Secret: CaseIterable, Sendable {
        case none, field, cookie, ownField, query, ownQuery, user, body
    }

    @Test(arguments: Secret.allCases) func aRequestWithASecretIsSentOnlyToHostsInTheScope(_ secret: Secret)
        async throws
    {
        let own = try #require(Self.hosts.first)
        let mirror = try #require(Self.hosts.last)
        for scope in [CredentialScope.connection, .origins(own), .origins(own, mirror)] {
            let isAllowed = scope.admits(.made("c.example.com", on: timers))
            let sent = Locked<[ApiRequest]>([])
            let transport = TestConnector { request in
                sent.withLock { $0.append(request) }
                return request.url.host() == "c.example.com" ? .fine : .failing(.cannotConnect)
            }
            var request = ApiRequest.made(
                secret == .user ? "me:pass@a.example.com" : "a.example.com",
                path: secret == .query ? "/p?access_token=t&x=1" : "/p?x=1",
                body: secret == .body ? .text("refresh_token=t") : .empty,
                on: timers
            )
            request.headers = ["Host": "a.example.com", "X-Plain": "1"]
            if secret == .field { request.headers[.authorization] = "Bearer t" }
            if secret == .cookie { request.headers[.cookie] = "id=1" }
            let failover = transport.failingOver(to: [own, mirror], credentials: scope)
            let result: Result<ApiResponse, ApiConnectorError>
            switch secret {
            case .ownField:
                let key = failover.authenticating(by: .fixed(.apiKey("key", inHeader: "Shop")), for: .origins(own))
                result = await key.result(for: request)
            case .ownQuery:
                let key = failover.authenticating(by: .fixed(.apiKey("key", inQuery: "k")), for: .origins(own))
                result = await key.result(for: request)
            default:
                result = await failover.result(for: request)
            }
            let requests = sent.withLock { $0 }
            #expect(requests.first?.url.host() == "a.example.com")
            if isAllowed || secret == .none {
                #expect(requests.count == 2)
                #expect(try result.get().status == 200)
                var fields = try #require(requests.first?.headers)
                fields.remove(.host)
                #expect(requests.last?.headers == fields)
                #expect(requests.last?.url.user() == nil)
                #expect(requests.last?.url.query() == requests.first?.url.query())
            } else {
                // The last failure, and no hidden request.
                #expect(requests.count == 1)
                #expect(result.failure?.kind == .cannotConnect)
            }
        }
    }

    @Test func aMirrorOutsideTheScopeCausesNoRefresh() async throws {
        let refreshCount = Locked(0)
        let sent = EventLog<String>()
        let statuses = Locked<[HTTPStatus]>([500])
        let transport = TestConnector { request in
            sent.note(request.url.host() ?? "")
            guard request.url.host() == "a.example.com" else { return .status(401) }
            return .status(statuses.withLock { $0.popLast() } ?? 200)
        }
        let session = RefreshableCredentials(.bearer("good"), timeSource: clock) { _ in
            refreshCount.withLock { $0 += 1 }
            return .bearer("new")
        }
        let own = try #require(Self.hosts.first)
        let provider = transport.failingOver(to: Self.hosts).authenticating(by: session, for: .origins(own))
        #expect(try await provider.response(for: .made("a.example.com", on: timers)).status == 500)
        // It is remembered as failing, and still the only one that may be asked.
        #expect(try await provider.response(for: .made("a.example.com", on: timers)).status == 200)
        #expect(refreshCount.withLock { $0 } == 0)
        #expect(sent.events == ["a.example.com", "a.example.com"])
    }

    @Test func aRefreshIsSentToItsOwnHostOnly() async throws {
        let sent = EventLog<String>()
        let all = CredentialScope.origins(Self.hosts[0], Self.hosts[1], Self.hosts[2])
        let provider = provider(["a": .failing(.cannotConnect)], sent, credentials: all)
        let request = ApiRequest.made("a.example.com", on: timers)
        let session = RefreshableCredentials(timeSource: clock) { _ in
            let request = ApiRequest.made("a.example.com", .post, body: .text("refresh_token=t"), on: timers)
            _ = try await provider.response(for: request)
            return .bearer("new")
        }
        let failure = await Result { () async throws(ApiConnectorError) in try await session.credential(for: request) }
            .failure
        #expect(failure?.kind == .credentialsUnavailable)
        #expect(sent.events == ["http://a.example.com/"])
    }

    @Test(arguments: [.seconds(Int64.max), .zero, .seconds(-1)] as [Duration]) func anAbsurdDurationDoesNotTrap(
        _ duration: Duration
    ) async throws {
        let sent = EventLog<String>()
        let transport = TestConnector { request in
            sent.note(request.url.host() ?? "")
            return request.url.host() == "a.example.com" ? .failing(.cannotConnect) : .fine
        }
        let provider = transport.failingOver(to: Self.hosts, for: duration)
        clock.advance(by: .seconds(1))
        for _ in 0..<2 { _ = try await provider.response(for: .made("a.example.com", on: timers)) }
        #expect(sent.events.count == (duration > .zero ? 3 : 4))
    }

    @Test(arguments: [
        ("http://a.example.com", "http://[::1]:8080/"), ("http://a.example.com?q=//x", "http://[::1]:8080?q=//x"),
        ("http://a.example.com/%2F..%2F/?a=b+c#f", "http://[::1]:8080/%2F..%2F/?a=b+c#f"),
        ("http://u:p@a.example.com:81/x@y:z", "http://[::1]:8080/x@y:z"),
    ])
    func onlySchemeHostAndPortAreReplaced(_ url: String, _ moved: String) throws {
        let origin = try #require(URL(string: "http://[::1]:8080").flatMap { HTTPOrigin($0) })
        let result = try #require(URL(string: url)?.moved(to: origin)?.absoluteString)
        // A URL without a path is one with an empty one.
        #expect(result == moved || result + "/" == moved)
    }

    @Test func theAttemptTimeoutsApplyToEachHost() async throws {
        let server = HeldServer()
        let provider = server.failingOver(to: Self.hosts)
        let request = ApiRequest.made("a.example.com", on: timers)
        let call = Task {
            await Result { () async throws(ApiConnectorError) in
                try await provider.attempt(request, within: Timeouts(attempt: .seconds(2), stall: Timeouts.noLimit))
            }
        }
        try await server.has(1)
        clock.advance(by: .seconds(2))
        try await server.has(2)
        server.answer(1, .status(204))
        #expect(try await call.value.get().status == 204)
    }
}
