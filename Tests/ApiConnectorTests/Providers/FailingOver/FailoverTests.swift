// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTesting
import Testing

@testable import ApiConnector

@Suite(.timeLimit(.minutes(5))) struct FailoverTests {
    private typealias Answer = TestConnectorResponse

    private let clock = ManualClock()
    private let timers: TimerQueue
    private static let hosts = ["http://a.example.com", "https://b.example.com:8443", "http://c.example.com"]
        .compactMap { URL(string: $0) }

    init() {
        timers = TimerQueue.on(clock)
    }

    /// What the hosts answer, by their first letter; what was sent to which is noted.
    private func provider(
        _ answers: [String: TestConnectorResponse],
        _ sent: EventLog<String>,
        credentials: CredentialScope = .connection
    ) -> Failover<TestConnector<ClosureResponses>> {
        TestConnector { request in
            sent.note(request.url.absoluteString)
            return answers[String((request.url.host() ?? "").prefix(1))] ?? .fine
        }
        .failover(over: Self.hosts, credentials: credentials)
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

    @Test(arguments: cases) func theNextHostIsAskedWhereThatIsSafe(_ row: Case) async {
        let sent = EventLog<String>()
        var request = ApiRequest.made("a.example.com", row.method, path: "/p/q?x=1", body: row.body, on: timers)
        if let key = row.key { request.headers[.idempotencyKey] = key }
        _ = await provider(row.answers, sent).result(for: request)
        let urls = [
            "a": "http://a.example.com/p/q?x=1", "b": "https://b.example.com:8443/p/q?x=1",
            "c": "http://c.example.com:80/p/q?x=1",
        ]
        #expect(sent.events == row.hosts.compactMap { urls[String($0)] })
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

    @Test func aHostThatFailedIsAskedLastForAWhile() async throws {
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

    @Test func aRequestElsewhereIsLeftAlone() async throws {
        let sent = EventLog<String>()
        let answers: [String: Answer] = ["x": .status(503)]
        let response = try await provider(answers, sent).response(for: .made("x.example.com", on: timers))
        #expect(response.status == 503)
        #expect(sent.events == ["http://x.example.com/"])
    }

    @Test func anObserverIsToldOfEachMove() async throws {
        let recorder = EventRecorder()
        let answers: [String: Answer] = ["a": .failing(.cannotConnect), "b": .status(503)]
        let observed = provider(answers, EventLog<String>()).observed(by: recorder)
        _ = try await observed.response(for: .made("a.example.com", on: timers))
        _ = try await observed.response(for: .made("a.example.com", on: timers))
        #expect(
            recorder.texts.filter { $0.hasPrefix("failed over") } == [
                "failed over to https://b.example.com:8443 because of cannotConnect",
                "failed over to http://c.example.com:80 because of 503",
                "failed over to http://c.example.com:80 because of remembered",
            ]
        )
    }

    @Test(arguments: [false, true]) func secretsGoOnlyWhereTheScopeAllowsIt(_ isAllowed: Bool) async throws {
        let seen = Locked<ApiRequest?>(nil)
        let mirror = try #require(Self.hosts.last)
        let transport = TestConnector { request in
            guard request.url.host() == "c.example.com" else { return .failing(.cannotConnect) }
            seen.withLock { $0 = request }
            return .fine
        }
        let own = try #require(URL(string: "http://a.example.com"))
        let scope = isAllowed ? CredentialScope.origins(own, mirror) : .origins(own)
        let provider =
            transport
            .failover(over: [own, mirror], credentials: scope)
            .authenticated(by: .fixed(.apiKey("key", inHeader: "Shop")), for: scope)
            .authenticated(by: .fixed(.apiKey("key", inQuery: "k")), for: scope)
        var request = ApiRequest.made("me:pass@a.example.com", path: "/p?access_token=t&x=1", on: timers)
        request.headers = ["Authorization": "Bearer t", "Cookie": "id=1", "Host": "a.example.com", "X-Plain": "1"]
        _ = try await provider.response(for: request)
        let sent = try #require(seen.withLock { $0 })
        let names = Set(sent.headers.map(\.name))
        #expect(names.contains("X-Plain"))
        #expect(!names.contains(.host))
        if isAllowed {
            #expect(names.isSuperset(of: [.authorization, .cookie, "Shop"]))
            #expect(sent.url.absoluteString == "http://c.example.com:80/p?access_token=t&x=1&k=key")
        } else {
            #expect(names == ["X-Plain"])
            #expect(sent.url.absoluteString == "http://c.example.com:80/p?x=1")
        }
    }

    @Test(arguments: [
        ("http://a.example.com", "http://[::1]:8080/"), ("http://a.example.com?q=//x", "http://[::1]:8080?q=//x"),
        ("http://a.example.com/%2F..%2F/?a=b+c#f", "http://[::1]:8080/%2F..%2F/?a=b+c#f"),
        ("http://u:p@a.example.com:81/x@y:z", "http://[::1]:8080/x@y:z"),
    ])
    func onlySchemeHostAndPortAreReplaced(_ url: String, _ moved: String) throws {
        let origin = try #require(URL(string: "http://[::1]:8080").flatMap { Origin($0) })
        let result = try #require(URL(string: url)?.moved(to: origin)?.absoluteString)
        // A URL without a path is one with an empty one.
        #expect(result == moved || result + "/" == moved)
    }

    @Test func theLimitsOfAnAttemptHoldForEachHost() async throws {
        let server = HeldServer()
        let provider = server.failover(over: Self.hosts)
        let request = ApiRequest.made("a.example.com", on: timers)
        let call = Task {
            await Result { () async throws(ApiConnectorError) in
                try await provider.attempt(request, within: Timeouts(attempt: .seconds(2), stall: nil))
            }
        }
        try await server.has(1)
        clock.advance(by: .seconds(2))
        try await server.has(2)
        server.answer(1, .status(204))
        #expect(try await call.value.get().status == 204)
    }

    @Test func aModelAgreesOverRandomHosts() async {
        await SplitMix64.runs(max(SplitMix64.caseCount / 10, 1)) { random in
            var model = FailoverModel(&random)
            try await model.run(&random)
        }
    }
}

/// One provider, a few calls one after the other, and a list of who failed when.
private struct FailoverModel {
    private enum Ending: CaseIterable {
        case fine, unreachable, broken, unwell, refused

        var answer: TestConnectorResponse {
            switch self {
            case .fine: .fine
            case .unreachable: .failing(.cannotConnect)
            case .broken: .failing(.connectionLost)
            case .unwell: .status(502)
            case .refused: .status(403)
            }
        }

        var isFailure: Bool { self == .unreachable || self == .broken || self == .unwell }
    }

    private let clock = ManualClock()
    private let timers: TimerQueue
    private let names: [String]
    private var failedTimes: [String: Duration] = [:]

    init(_ random: inout SplitMix64) {
        timers = TimerQueue.on(clock)
        names = Array(["a", "b", "c", "d"].prefix(Int.random(in: 1...4, using: &random)))
    }

    mutating func run(_ random: inout SplitMix64) async throws {
        let endings = Locked<[String: Ending]>([:])
        let sent = Locked<[String]>([])
        let provider = TestConnector { request in
            let name = request.url.host() ?? ""
            sent.withLock { $0.append(name) }
            return endings.withLock { $0[name] ?? .fine }.answer
        }
        .failover(over: names.compactMap { URL(string: "http://\($0)") }, for: .seconds(10))
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            let drawn = names.map { ($0, Ending.allCases.randomElement(using: &random) ?? .fine) }
            let table = Dictionary(drawn) { first, _ in first }
            endings.withLock { $0 = table }
            sent.withLock { $0 = [] }
            let method: HTTPMethod = Bool.random(using: &random) ? .get : .post
            let own = names.randomElement(using: &random) ?? "a"
            let result = await provider.result(for: .made(own, method, on: timers))
            let expected = expectedHosts(from: own, method, table)
            try #require(sent.withLock { $0 } == expected)
            let last = table[expected.last ?? ""] ?? .fine
            try #require(
                result.failure?.kind
                    == (last == .unreachable ? .cannotConnect : last == .broken ? .connectionLost : nil)
            )
            clock.advance(by: .seconds(Int.random(in: 0...8, using: &random)))
        }
    }

    private mutating func expectedHosts(
        from own: String,
        _ method: HTTPMethod,
        _ table: [String: Ending]
    ) -> [String] {
        let order = [own] + names.filter { $0 != own }
        let late = order.filter { name in failedTimes[name].map { $0 + .seconds(10) > clock.now } ?? false }
        var asked: [String] = []
        for name in order.filter({ !late.contains($0) }) + late {
            asked.append(name)
            let ending = table[name] ?? .fine
            failedTimes[name] = ending.isFailure ? clock.now : nil
            guard ending.isFailure, method.isIdempotent || ending == .unreachable else { break }
        }
        return asked
    }
}
