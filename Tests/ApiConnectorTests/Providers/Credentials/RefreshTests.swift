// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import Testing

/// Credentials that are replaced: one case each on a clock that stands.
struct RefreshTests {
    private let clock = ManualClock()
    private let server = TokenServer()
    private let recorder = EventRecorder()

    private func session(
        _ credential: ApiCredential? = .bearer("t1"),
        limit: RefreshableCredentials.Limit = RefreshableCredentials.Limit(),
        before gate: Gate? = nil
    ) -> RefreshableCredentials {
        RefreshableCredentials(credential, limit: limit, timeSource: clock) { [server] _ in
            try await gate?.opened()
            return .bearer(server.refresh())
        }
    }

    private func connection(
        _ session: RefreshableCredentials,
        _ timeouts: Timeouts = Timeouts()
    ) -> NetworkConnector<AnyProvider, Router> {
        server.provider.authenticating(by: session).observing(by: recorder).connected(timeouts, on: clock)
    }

    /// The events that have to do with credentials.
    private var credentialEvents: [String] { recorder.texts.filter { $0.hasPrefix("credentials") } }

    @Test func aRefusedCredentialIsReplacedAndTheRequestSentAgain() async throws {
        server.expire()
        let data = try await connection(session()).data(at: .me)
        #expect(String(decoding: data, as: UTF8.self) == "welcome")
        #expect(server.seen == ["t1", "t2"])
        #expect(credentialEvents == ["credentials: refreshStarted", "credentials: refreshed"])
        #expect(recorder.texts.count { $0.hasPrefix("head") } == 1)
    }

    /// The 401 of a stream would otherwise keep its connection during the refresh.
    @Test func theBodyOfAStreamed401EndsBeforeTheRefresh() async throws {
        let script = Script(for: Router.self, in: .localhost)
        script.on(.me)
            .answer(.data(Data("who are you?".utf8), status: 401).chunked(byteCount: 4))
            .answer(.data(Data("a\nb\n".utf8)))
        let outcomes = Locked<[String]>([])
        let session = RefreshableCredentials(.bearer("t1"), timeSource: clock) { _ in
            outcomes.withLock { $0 = script.requests.map(\.outcome.description) }
            return .bearer("t2")
        }
        let api = TestConnector(script).authenticating(by: session).connected(on: clock)
        var lines: [String] = []
        for try await line in api.stream(at: .me, as: .lines) { lines.append(line) }
        #expect(lines == ["a", "b"])
        #expect(outcomes.withLock { $0 } == ["answered 401 Unauthorized"])
    }

    @Test func allCallsWaitForOneRefresh() async throws {
        server.expire()
        let gate = Gate()
        let api = connection(session(before: gate))
        let calls = (0..<50).map { _ in Task { try await api.data(at: .me) } }
        try await recorder.has(49, "credentials: refreshJoined")
        gate.open()
        for call in calls { #expect(try await call.value.count == 7) }
        #expect(server.refreshCount == 1)
        #expect(server.seen.count { $0 == "t2" } == 50)
    }

    /// The refresh may run, and a test may advance its clock, before the call has set the timer.
    @Test func theTimeLimitOfARefreshCountsFromItsStart() async throws {
        let clock = AgingClock()
        let session = RefreshableCredentials(timeLimit: .seconds(12), timeSource: clock) { _ in .bearer("t1") }
        let request = ApiRequest(url: try #require(URL(string: "http://localhost/me")))
        #expect(try await session.credential(for: request) != nil)
        #expect(clock.dueTimes == [.seconds(12)])
    }

    @Test func allCallsThatWaitForARefreshReportItsEvents() async throws {
        server.expire()
        let gate = Gate()
        let session = RefreshableCredentials(.bearer("t1"), timeSource: clock) { [server] _ in
            for _ in 0..<100 { RefreshableCredentials.report(.custom("backup", details: [:])) }
            try await gate.opened()
            return .bearer(server.refresh())
        }
        let api = connection(session)
        let calls = (0..<3).map { _ in Task { try await api.data(at: .me) } }
        try await recorder.has(2, "credentials: refreshJoined")
        gate.open()
        for call in calls { #expect(try await call.value.count == 7) }
        #expect(recorder.texts.count { $0 == "backup" } == 3 * 16)
        // These do nothing: there is no refresh, and the calls do not wait.
        RefreshableCredentials.report(.custom("late", details: [:]))
        #expect(try await api.data(at: .me).count == 7)
        #expect(!recorder.texts.contains("late"))
    }

    @Test func theFirstCredentialMayBeFetchedByTheFirstCall() async throws {
        try await connection(session(nil)).send(at: .me)
        #expect(server.seen == ["t2"])
    }

    @Test func aCallWithAnOlderCredentialIsRetriedWithoutARefresh() async throws {
        let held = Gate()
        let arrived = Gate()
        let session = session()
        let provider = TestConnector { [server] request in
            if request.headers[.authorization] == "Bearer t1" {
                arrived.open()
                try await held.opened()
            }
            return server.answer(request)
        }
        let api = provider.authenticating(by: session).observing(by: recorder).connected(on: clock)
        let call = Task { try await api.data(at: .me) }
        try await arrived.opened()
        session.signIn(.bearer(server.refresh()))
        held.open()
        #expect(try await call.value.count == 7)
        #expect(server.seen == ["t1", "t2"])
        #expect(server.refreshCount == 1)
        #expect(credentialEvents == ["credentials: resent"])
    }

    @Test func aCredentialIsReplacedAheadOfItsExpiry() async throws {
        let session = session(.bearer("t1", until: clock.date.addingTimeInterval(100)))
        let api = connection(session)
        clock.advance(by: .seconds(69))
        try await api.send(at: .me)
        #expect(server.seen == ["t1"])
        clock.advance(by: .seconds(1))
        try await api.send(at: .me)
        #expect(server.seen == ["t1", "t2"])
    }

    @Test func aFailedRefreshAheadOfTheExpiryFailsNoCall() async throws {
        struct Down: Error {}
        let credential = ApiCredential.bearer("t1", until: clock.date.addingTimeInterval(20))
        let session = RefreshableCredentials(credential, timeSource: clock) { _ in throw Down() }
        let api = connection(session)
        try await api.send(at: .me)
        #expect(server.seen == ["t1"])
        #expect(credentialEvents == ["credentials: refreshStarted", "credentials: kept"])

        clock.advance(by: .seconds(20))
        let error = await #expect(throws: ApiConnectorError.self) { try await api.send(at: .me) }
        #expect(
            error?.description == "GET http://localhost/me failed (credentialsUnavailable): "
                + "the credential could not be refreshed: Down(). Sign in again."
        )
        #expect(error?.underlying is Down)
        #expect(credentialEvents.last == "credentials: unavailable")
    }

    @Test func aServerThatRefusesEverythingGetsFewRefreshes() async throws {
        let provider = TestConnector { _ in .status(401) }
        let api = provider.authenticating(by: session()).connected(on: clock)
        let options = CallOptions(validation: .status(401))
        for _ in 0..<20 { _ = try await api.response(at: .me, options: options) }
        #expect(server.refreshCount == 5)
        clock.advance(by: .seconds(30))
        for _ in 0..<20 { _ = try await api.response(at: .me, options: options) }
        #expect(server.refreshCount == 10)
    }

    @Test func aSecondRefusalIsDelivered() async throws {
        let provider = TestConnector { [server] request in
            _ = server.answer(request)
            return .data(Data("not yours".utf8), status: 401)
        }
        let api = provider.authenticating(by: session()).connected(on: clock)
        let error = await #expect(throws: ApiConnectorError.self) { try await api.send(at: .me) }
        #expect(error?.kind == .unacceptableStatus)
        #expect(error?.response?.bodyPrefix == "not yours")
        #expect(server.seen == ["t1", "t2"])
    }

    @Test func aCanceledWaiterDoesNotCancelTheRefresh() async throws {
        server.expire()
        let gate = Gate()
        let api = connection(session(before: gate))
        let impatient = Task { try await api.data(at: .me) }
        try await recorder.has(1, "credentials: refreshStarted")
        let patient = Task { try await api.data(at: .me) }
        try await recorder.has(1, "credentials: refreshJoined")
        impatient.cancel()
        let error = await #expect(throws: ApiConnectorError.self) { try await impatient.value }
        #expect(error?.kind == .cancelled)
        gate.open()
        #expect(try await patient.value.count == 7)
        #expect(server.refreshCount == 1)
        // Its own cancel says nothing of the credential.
        let events = ["refreshStarted", "refreshJoined", "refreshed"].map { "credentials: \($0)" }
        #expect(credentialEvents == events)
    }

    @Test func aWaiterKeepsToItsOwnDeadline() async throws {
        server.expire()
        let gate = Gate()
        defer { gate.open() }
        let api = connection(session(before: gate), Timeouts(overall: .seconds(5)))
        let call = Task { try await api.data(at: .me) }
        try await recorder.has(1, "credentials: refreshStarted")
        clock.advance(by: .seconds(5))
        let error = await #expect(throws: ApiConnectorError.self) { try await call.value }
        #expect(error?.kind == .deadlineExceeded)
    }

    @Test func aRequestMadeByHandKeepsToItsDeadline() async throws {
        let gate = Gate()
        defer { gate.open() }
        let session = session(nil, before: gate)
        var request = ApiRequest(url: try #require(URL(string: "http://api.example.com/me")))
        request.timeSource = clock
        request.deadline = .seconds(5)
        let waiting = Task { [request] in try await session.credential(for: request) }
        while try await clock.nextSleep() != .seconds(5) {}
        clock.advance(by: .seconds(5))
        let error = await #expect(throws: ApiConnectorError.self) { try await waiting.value }
        #expect(error?.kind == .deadlineExceeded)
    }

    @Test func aRefreshThatNeverEndsIsAbandoned() async throws {
        server.expire()
        let gate = Gate()
        defer { gate.open() }
        let api = connection(session(before: gate), .unlimited)
        let call = Task { try await api.data(at: .me) }
        try await recorder.has(1, "credentials: refreshStarted")
        while try await clock.nextSleep() != .seconds(30) {}
        clock.advance(by: .seconds(30))
        let error = await #expect(throws: ApiConnectorError.self) { try await call.value }
        #expect(error?.kind == .credentialsUnavailable)
        #expect(error?.detail == "the refresh of the credential did not finish within 30.0 seconds")
    }

    @Test func aRefreshWaitsForAnAbandonedOneThatWaitedItself() async throws {
        let begun = EventLog<Int>()
        let running = Locked((now: 0, most: 0))
        let gates = (1...3).map { Gate("refresh \($0)") }
        defer { for gate in gates { gate.open() } }
        let limit = RefreshableCredentials.Limit(.max)
        let session = RefreshableCredentials(nil, limit: limit, timeSource: clock) { [server] _ in
            let number = running.withLock { running in
                running.now += 1
                running.most = max(running.most, running.now)
                return begun.events.count
            }
            begun.note(number)
            // Ignores the cancellation.
            _ = await Task { try? await gates[number].opened() }.value
            running.withLock { $0.now -= 1 }
            return .bearer(server.refresh())
        }
        let api = connection(session, .unlimited)
        for number in 0..<2 {
            let call = Task { try await api.data(at: .me) }
            while try await clock.nextSleep() != .seconds(30) {}
            // The second refresh begins after the first one has ended.
            if number == 1 { gates[0].open() }
            try await begun.happened([number])
            clock.advance(by: .seconds(30))
            await #expect(throws: ApiConnectorError.self) { try await call.value }
        }
        let call = Task { try await api.data(at: .me) }
        while try await clock.nextSleep() != .seconds(30) {}
        #expect(begun.events == [0, 1])
        gates[2].open()
        gates[1].open()
        _ = await call.result
        #expect(begun.events == [0, 1, 2])
        #expect(running.withLock { $0.most } == 1)
    }

    @Test func theResultOfAnAbandonedRefreshIsDiscarded() async throws {
        server.expire()
        let gate = Gate()
        let session = RefreshableCredentials(.bearer("t1"), timeSource: clock) { [server] old in
            guard old?.version == 1 else { return .bearer(server.refresh()) }
            // Heeds no cancel.
            _ = await Task { try? await gate.opened() }.value
            return .bearer("late")
        }
        let api = connection(session)
        let call = Task { try await api.data(at: .me) }
        try await recorder.has(1, "credentials: refreshStarted")
        session.signIn(.bearer(server.refresh()))
        #expect(try await call.value.count == 7)

        server.expire()
        let next = Task { try await api.data(at: .me) }
        try await recorder.has(2, "credentials: refreshStarted")
        gate.open()
        #expect(try await next.value.count == 7)
        #expect(server.seen == ["t1", "t2", "t2", "t3"])
    }

    @Test func signingOutFailsAllWaiters() async throws {
        server.expire()
        let gate = Gate()
        let session = session(before: gate)
        let api = connection(session)
        let calls = (0..<10).map { _ in Task { try await api.data(at: .me) } }
        try await recorder.has(9, "credentials: refreshJoined")
        session.signOut()
        for call in calls {
            let error = await #expect(throws: ApiConnectorError.self) { try await call.value }
            #expect(error?.kind == .credentialsUnavailable)
            #expect(error?.detail == "no user is signed in")
        }
        gate.open()
        await #expect(throws: ApiConnectorError.self) { try await api.data(at: .me) }
        session.signIn(.bearer(server.refresh()))
        #expect(try await api.data(at: .me).count == 7)
    }

    @Test func aCallWithItsOwnAuthorizationNeedsNoCredential() async throws {
        let login = CallOptions(headers: [.authorization: "Basic YTpi"], validation: .status(401))
        // Before the first credential, after a refused credential, and without a signed-in user.
        let empty = connection(session(nil))
        _ = try await empty.response(at: .auth, options: login)
        let session = session(.bearer("t0"))
        session.refuse(.bearer("t0"))
        let api = connection(session)
        _ = try await api.response(at: .auth, options: login)
        session.signOut()
        let response = try await api.response(at: .auth, options: login)
        #expect(response.request.headers.values(.authorization) == ["Basic YTpi"])
        #expect(server.refreshCount == 0)
        #expect(credentialEvents == [])
        #expect(server.seen.count == 3)
    }

    @Test func anotherFieldOfTheCallIsNotACredential() async throws {
        let session = RefreshableCredentials(.apiKey("k", inHeader: "X-Key"), timeSource: clock) { _ in
            .apiKey("other", inHeader: "X-Key")
        }
        let provider = TestConnector { request in .data(Data((request.headers["X-Key"] ?? "none").utf8)) }
        let api = provider.authenticating(by: session).connected(on: clock)
        let options = CallOptions(headers: [.authorization: "Basic YTpi"])
        #expect(try await api.data(at: .me, options: options) == Data("k".utf8))
    }

    @Test func aBodyThatIsNotReplayableIsNotSentAgain() async throws {
        server.expire()
        let provider = server.provider.authenticating(by: session())
        let api = NetworkConnector(environment: .localhost, provider: provider, router: OneShot.self)
        let error = await #expect(throws: ApiConnectorError.self) { try await api.send(at: OneShot()) }
        #expect(error?.kind == .unacceptableStatus)
        #expect(server.seen == ["t1"])
        // But the next call knows that the credential is old.
        try await api.send(at: OneShot())
        #expect(server.seen == ["t1", "t2"])
    }

    private struct OneShot: ApiRouter {
        typealias EnvironmentType = Environment
        let path = "/upload"
        let method = HTTPMethod.put
        var body: RequestBody {
            .stream(isReplayable: false) { AsyncStream { $0.finish() } }
        }
    }

    @Test func aStreamIsSentAgainBeforeAnythingIsDelivered() async throws {
        let provider = TestConnector { [server] request in
            server.answer(request).chunked(byteCount: 3)
        }
        server.expire()
        let api = provider.authenticating(by: session()).observing(by: recorder).connected(on: clock)
        var lines: [String] = []
        for try await line in api.stream(at: .me, as: .lines) { lines.append(line) }
        #expect(lines == ["welcome"])
        #expect(server.seen == ["t1", "t2"])
    }

    @Test func aRefreshMayUseTheConnectionThatWaitsForIt() async throws {
        server.expire()
        let api = Later()
        let session = RefreshableCredentials(.bearer("t1"), timeSource: clock) { [server, api] _ in
            let connection = try #require(api.connection.withLock { $0 })
            let options = CallOptions(validation: .status(401))
            async let first = connection.response(at: .auth, options: options)
            let second = try await connection.response(at: .auth, options: options)
            #expect(try await !first.request.headers.contains(.authorization))
            #expect(!second.request.headers.contains(.authorization))
            return .bearer(server.refresh())
        }
        let connection = server.provider.authenticating(by: session).connected(on: clock)
        api.connection.withLock { $0 = connection }
        #expect(try await connection.data(at: .me).count == 7)
        #expect(server.seen == ["t1", "-", "-", "t2"])
        api.connection.withLock { $0 = nil }
    }

    /// A connection that its own credentials use.
    private final class Later: Sendable {
        let connection = Locked<NetworkConnector<AnyProvider, Router>?>(nil)
    }
}

/// A clock that is at zero at first, and a second older at each further look.
///
/// Its timers never fire.
private final class AgingClock: TimeSource {
    private let state = Locked((now: Duration.zero, dueTimes: [Duration]()))

    var dueTimes: [Duration] { state.withLock { $0.dueTimes } }
    var date: Date { Date(timeIntervalSince1970: 0) }

    var now: Duration {
        state.withLock { state in
            defer { state.now += .seconds(1) }
            return state.now
        }
    }

    func sleep(until deadline: Duration) async throws { throw CancellationError() }

    func schedule(at due: Duration, _ action: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        state.withLock { $0.dueTimes.append(due) }
        return {}
    }
}
