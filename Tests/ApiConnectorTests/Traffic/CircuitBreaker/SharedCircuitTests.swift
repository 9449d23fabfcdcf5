// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnectorTesting
import Testing

@testable import ApiConnector
@testable import ApiConnectorTraffic

/// Tests of circuits that several instances share.
@Suite(.timeLimit(.minutes(10))) struct SharedCircuitTests {
    private let clock = ManualClock()
    private let timers: TimerQueue
    private let state: UnreliableState
    private let recorder = EventRecorder()
    private let backend = Backend()

    init() {
        timers = TimerQueue.on(clock)
        state = UnreliableState(MemorySharedState(timeSource: clock))
    }
}

extension SharedCircuitTests {
    /// A server that answers at once with a status, or holds requests until the test answers them.
    private final class Backend: DataRequestType {
        let status = Locked<HTTPStatus>(503)
        let sentCount = Locked(0)
        let held = HeldServer()
        let isHolding = Locked(false)

        func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
            if isHolding.withLock({ $0 }) { return try await held.response(for: request) }
            sentCount.withLock { $0 += 1 }
            return ApiResponse(to: request, status: status.withLock { $0 })
        }
    }

    private func instance() -> AnyProvider {
        let shared = SharedCircuits(named: "a", in: state)
        return AnyProvider(backend.circuitBreaking(.small, sharedAs: shared).observing(by: recorder))
    }

    /// Sends a call, and returns the kind of its error, or its status.
    private func call(_ instance: AnyProvider, _ host: String = "one.example.com") async -> String {
        switch await instance.result(for: .made(host, on: timers)) {
        case .success(let response): "\(response.status.rawValue)"
        case .failure(let error): error.kind.rawValue
        }
    }

    /// Opens the circuit of an instance, and waits until the store has its record.
    private func open(_ instance: AnyProvider) async {
        let count = state.count(of: .replace)
        for _ in 0..<4 { _ = await call(instance) }
        await eventually { state.count(of: .replace) == count + 1 }
    }

    /// Sends calls until an instance knows the circuit's record in the store.
    ///
    /// The server answers with 200.
    private func refresh(_ instance: AnyProvider, until result: String) async {
        backend.status.withLock { $0 = 200 }
        clock.advance(by: .seconds(1))
        await eventually { await call(instance) == result }
    }

    @Test func anInstanceOpensTheCircuitForAllAfterTheInterval() async {
        let (one, other) = (instance(), instance())
        backend.status.withLock { $0 = 200 }
        #expect(await call(other) == "200")
        await eventually { state.count(of: .record) == 1 }
        backend.status.withLock { $0 = 503 }
        await open(one)
        backend.status.withLock { $0 = 200 }
        // The other instance has looked less than a second ago.
        #expect(await call(other) == "200")
        await refresh(other, until: "circuitOpen")
        // The circuit of another host is not affected.
        #expect(await call(other, "two.example.com") == "200")
    }

    @Test func aNewInstanceLearnsOfAnOpenCircuitWithItsFirstCall() async {
        await open(instance())
        await refresh(instance(), until: "circuitOpen")
    }

    @Test func oneOfAllInstancesSendsATrialRequest() async throws {
        let instances = (0..<3).map { _ in instance() }
        await open(instances[0])
        for other in instances.dropFirst() { await refresh(other, until: "circuitOpen") }
        clock.advance(by: .seconds(10))
        backend.isHolding.withLock { $0 = true }
        let trials = instances.map { instance in
            Task { [timers] in await instance.result(for: .made(on: timers)) }
        }
        await eventually { state.count(of: .acquire) == 3 && backend.held.held.count == 1 }
        // The other instances do not wait for the result of the trial request.
        await eventually { recorder.texts.count { $0.contains("refused") } >= 2 }
        backend.held.answer(0)
        var refusedCount = 0
        for trial in trials where await trial.value.failure?.kind == .circuitOpen { refusedCount += 1 }
        #expect(refusedCount == 2)
        #expect(backend.held.requests.count == 1)
    }

    @Test func aSuccessfulTrialClosesTheCircuitForAll() async {
        let (one, other) = (instance(), instance())
        await open(one)
        clock.advance(by: .seconds(7))
        // By itself, this one would refuse requests until 18 seconds.
        await refresh(other, until: "circuitOpen")
        clock.advance(by: .seconds(3))
        backend.status.withLock { $0 = 200 }
        #expect(await call(one) == "200")
        await eventually { state.count(of: .end) == 1 }
        await refresh(other, until: "200")
        #expect(state.count(of: .acquire) == 1)
    }

    @Test func aFailedTrialKeepsTheCircuitOpenForAll() async {
        let (one, other) = (instance(), instance())
        await open(one)
        await refresh(other, until: "circuitOpen")
        clock.advance(by: .milliseconds(9500))
        backend.status.withLock { $0 = 503 }
        #expect(await call(one) == "503")
        await eventually { state.count(of: .end) == 1 }
        backend.sentCount.withLock { $0 = 0 }
        // The other instance gets the right to send a trial request, and sees that there was already one.
        clock.advance(by: .seconds(2))
        for _ in 0..<3 { #expect(await call(other) == "circuitOpen") }
        clock.advance(by: .seconds(7))
        #expect(await call(other) == "circuitOpen")
        #expect(backend.sentCount.withLock { $0 } == 0)
    }

    /// The other instance has looked at the record before the trial, less than a second ago.
    @Test func anInstanceSendsNoTrialRequestRightAfterAFailedOne() async {
        let (one, other) = (instance(), instance())
        await open(one)
        await refresh(other, until: "circuitOpen")
        backend.status.withLock { $0 = 503 }
        // A look of each instance, and the first one's read before its write.
        await eventually { state.count(of: .record) == 3 }
        clock.advance(by: .milliseconds(9200))
        // The call must not learn from its own read that the open duration is over: it would be the trial request.
        let read = Gate("read")
        state.delayReads(until: read)
        #expect(await call(other) == "circuitOpen")
        read.open()
        await eventually { state.count(of: .record) == 4 }
        clock.advance(by: .milliseconds(300))
        #expect(await call(one) == "503")
        await eventually { state.count(of: .end) == 1 }
        backend.sentCount.withLock { $0 = 0 }
        clock.advance(by: .milliseconds(600))
        #expect(await call(other) == "circuitOpen")
        #expect(backend.sentCount.withLock { $0 } == 0)
    }

    @Test func theTrialOfAKilledInstanceIsSentByAnotherOne() async throws {
        let (one, other) = (instance(), instance())
        await open(one)
        await refresh(other, until: "circuitOpen")
        clock.advance(by: .seconds(10))
        // An instance has the lease, and is killed.
        let key = SharedStateKey("a/http://one.example.com", in: "ApiConnector")
        let lease = try await state.acquireLease(of: key, owner: "x", for: .seconds(10), within: .seconds(1))
        #expect(lease != nil)
        backend.status.withLock { $0 = 200 }
        #expect(await call(other) == "circuitOpen")
        clock.advance(by: .seconds(9))
        #expect(await call(other) == "circuitOpen")
        clock.advance(by: .seconds(1))
        #expect(await call(other) == "200")
    }

    @Test func aTrialThatIsCanceledWhileItAcquiresItsLeaseEndsIt() async {
        let one = instance()
        await open(one)
        clock.advance(by: .seconds(10))
        let gate = Gate("the store")
        state.delayLeases(until: gate)
        let trial = Task { await call(one) }
        await eventually { state.count(of: .acquire) == 1 }
        trial.cancel()
        #expect(await trial.value == "cancelled")
        gate.open()
        await eventually { state.count(of: .end) == 1 }
    }

    @Test func aRefusedTrialAsksTheStateOncePerInterval() async throws {
        let one = instance()
        await open(one)
        let key = SharedStateKey("a/http://one.example.com", in: "ApiConnector")
        clock.advance(by: .seconds(10))
        _ = try await state.acquireLease(of: key, owner: "x", for: .seconds(100), within: .seconds(1))
        for _ in 0..<10 { #expect(await call(one) == "circuitOpen") }
        #expect(state.count(of: .acquire) == 2)
    }

    /// Otherwise, a look that ends after a refusal would make the instance ask for the lease again within the interval.
    @Test func anInstanceLearnsOnceThatTheOpenDurationIsOver() {
        var view = SharedCircuitView()
        let opened = SharedRecord(version: 1, data: Data("open".utf8))
        let over = SharedRecord(version: 1, data: nil)
        let news = [opened, over, over].map { view.learn($0) }
        #expect(news == [.opened, .isOver, .nothing])
        view.know(2, isOpening: true)
        view.refuse()
        let newsAfterRefusal = [2, 3].map { view.learn(SharedRecord(version: $0, data: nil)) }
        #expect(newsAfterRefusal == [.nothing, .closed])
    }

    @Test(arguments: [true, false])
    func aLookThatSeesTheInstancesOwnWriteReportsNothing(lookIsFirst: Bool) {
        var view = SharedCircuitView()
        let none = SharedRecord(version: 0, data: nil)
        let opened = SharedRecord(version: 1, data: Data("open".utf8))
        if lookIsFirst { expectLook(&view, at: .zero) }
        let mustWrite = view.beginWrite(over: none, Data("open".utf8))
        if !lookIsFirst { expectLook(&view, at: .zero) }
        let newsDuringWrite = view.see(opened, now: .zero)
        view.know(1, isOpening: true)
        view.endWrite()
        expectLook(&view, at: .seconds(1))
        let newsAfterWrite = view.see(opened, now: .seconds(1))
        #expect(mustWrite)
        #expect([newsDuringWrite, newsAfterWrite] == [.nothing, .nothing])
    }

    /// As when a write has failed, or there was nothing to write.
    @Test(arguments: [true, false])
    func aLookAfterAWriteReportsWhatAnotherInstanceHasWritten(toOpen: Bool) {
        var view = SharedCircuitView()
        if !toOpen { expectLook(&view, at: .zero) }
        let mustWrite = view.beginWrite(
            over: SharedRecord(version: 0, data: nil),
            toOpen ? Data("open one".utf8) : nil
        )
        if mustWrite { view.endWrite() }
        if toOpen { expectLook(&view, at: .zero) }
        let news = view.see(SharedRecord(version: 1, data: Data("open".utf8)), now: .zero)
        #expect(mustWrite == toOpen)
        #expect(news == .opened)
    }

    /// The read under the lease of a trial request may end before an earlier look.
    @Test(arguments: [true, false])
    func aLookThatEndsAfterANewerReadReportsNothing(knowsOfTheOpening: Bool) {
        var view = SharedCircuitView()
        let opened = SharedRecord(version: 1, data: Data("open".utf8))
        if knowsOfTheOpening { _ = view.learn(opened) }
        expectLook(&view, at: .zero)
        let news = view.learn(SharedRecord(version: 2, data: nil))
        let late = view.see(opened, now: .zero)
        #expect([news, late] == [knowsOfTheOpening ? .closed : .nothing, .nothing])
        expectLook(&view, at: .seconds(1))
        let next = view.see(SharedRecord(version: 3, data: Data("open".utf8)), now: .seconds(1))
        #expect(next == .opened)
    }

    @Test func aLateOldOpeningDoesNotHideANewerOne() {
        var view = SharedCircuitView()
        expectLook(&view, at: .zero)
        let records = [1, 3].map { SharedRecord(version: $0, data: Data("open \($0)".utf8)) }
        let news = view.learn(records[1])
        let late = view.see(records[0], now: .zero)
        let over = view.learn(SharedRecord(version: 3, data: nil))
        #expect([news, late, over] == [.opened, .nothing, .isOver])
    }

    /// A replica that lags has the record of the opening.
    ///
    /// A store that has lost the closing has it twice.
    @Test(arguments: [true, false]) func anOlderOpeningCountsIfItIsReadTwice(isOwnClosing: Bool) {
        var view = SharedCircuitView()
        let opened = SharedRecord(version: 1, data: Data("open".utf8))
        let closed = SharedRecord(version: 2, data: nil)
        let first = view.learn(opened)
        if isOwnClosing { view.know(2, isOpening: false) }
        let news = [closed, opened, closed, opened, opened].map { view.learn($0) }
        #expect(first == .opened)
        #expect(news == [isOwnClosing ? .nothing : .closed, .nothing, .nothing, .nothing, .opened])
    }

    @Test func anOlderClosingDoesNotMakeAKnownOpeningNew() {
        var view = SharedCircuitView()
        let opened = SharedRecord(version: 3, data: Data("open".utf8))
        let news = [opened, SharedRecord(version: 2, data: nil), opened].map { view.learn($0) }
        #expect(news == [.opened, .nothing, .nothing])
    }

    @Test func anOlderOpeningDoesNotReplaceTheInstancesOwn() {
        var view = SharedCircuitView()
        view.know(2, isOpening: false)
        let isWritten = view.beginWrite(over: SharedRecord(version: 1, data: Data("open 1".utf8)), Data("open 2".utf8))
        #expect(isWritten)
    }

    /// The older record may come from a replica that lags.
    @Test func aClosingIsWrittenOverAnOlderRecordWithoutData() {
        var view = SharedCircuitView()
        view.know(3, isOpening: true)
        let isWritten = view.beginWrite(over: SharedRecord(version: 2, data: nil), nil)
        #expect(isWritten)
    }

    @Test func aLostReplyToAWriteDoesNotOpenTheCircuitForALongerTime() async {
        let one = instance()
        state.loseReplies(true)
        await open(one)
        // The first look, and the read before the write. The call after the failed write reports it.
        await eventually {
            _ = await call(one)
            return state.count(of: .record) == 2 && recorder.texts.contains { $0.contains("sharedStateUnavailable") }
        }
        state.loseReplies(false)
        clock.advance(by: .seconds(5))
        #expect(await call(one) == "circuitOpen")
        await eventually { state.count(of: .record) == 3 }
        // The look has ended when the circuit follows it, so a second call sees its result.
        for _ in 0..<100 { await Task.yield() }
        clock.advance(by: .seconds(5))
        backend.status.withLock { $0 = 200 }
        #expect(await call(one) == "200")
    }

    @Test func anInstanceReplacesItsOwnRecordAlsoAfterALostReply() {
        var view = SharedCircuitView()
        let (first, second) = (Data("open 1".utf8), Data("open 2".utf8))
        let written = view.beginWrite(over: SharedRecord(version: 0, data: nil), first)
        view.endWrite()
        let writtenAgain = view.beginWrite(over: SharedRecord(version: 1, data: first), second)
        view.endWrite()
        let writtenOverAnother = view.beginWrite(over: SharedRecord(version: 3, data: Data("open 3".utf8)), second)
        #expect([written, writtenAgain, writtenOverAnother] == [true, true, false])
    }

    @Test func theNextLookIsOneIntervalAfterTheStartOfTheLastOne() {
        var view = SharedCircuitView()
        expectLook(&view, at: .zero)
        // Another operation fails during the look, and the store is back when the look ends.
        view.fail(now: .milliseconds(500))
        view.fail(now: .milliseconds(500))
        let news = view.see(SharedRecord(version: 0, data: nil), now: .milliseconds(600))
        let mayLook = view.beginLook(now: .milliseconds(999), interval: .seconds(1))
        #expect(news == .nothing)
        #expect(!mayLook)
        expectLook(&view, at: .seconds(1))
    }

    private func expectLook(
        _ view: inout SharedCircuitView,
        at time: Duration,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let mayLook = view.beginLook(now: time, interval: .seconds(1))
        #expect(mayLook, sourceLocation: sourceLocation)
    }

    @Test func aLateRefusalDoesNotHideTheEndOfANewerOpening() {
        var circuit = Circuit(.small)
        let opened = [1, 2].map { SharedRecord(version: $0, data: Data("open".utf8)) }
        circuit.follow(circuit.view.learn(opened[0]), now: .zero)
        let admission = circuit.admit(now: .seconds(10))
        circuit.follow(circuit.view.learn(opened[1]), now: .seconds(10))
        circuit.yield(for: .seconds(1), now: .seconds(10))
        let news = circuit.view.learn(SharedRecord(version: 2, data: nil))
        guard case .probe = admission else {
            Issue.record("the request is not a trial: \(admission)")
            return
        }
        #expect(news == .isOver)
    }

    @Test func withoutTheStateEachInstanceHasItsOwnCircuits() async {
        state.fail()
        let (one, other) = (instance(), instance())
        for _ in 0..<4 { #expect(await call(one) == "503") }
        #expect(await call(one) == "circuitOpen")
        #expect(await call(other) == "503")
        clock.advance(by: .seconds(10))
        backend.status.withLock { $0 = 200 }
        // The instance sends a trial request without the store.
        #expect(await call(one) == "200")
        #expect(await call(one) == "200")
        #expect(recorder.texts.contains { $0.contains("sharedStateUnavailable") }, "\(recorder.texts)")
        // The store is asked with pauses that grow.
        #expect(state.count(of: .record) < 6, "\(state.count(of: .record))")
    }

    @Test func aTrialRequestDoesNotWaitForTheStateBeyondItsDeadline() async throws {
        let one = instance()
        await open(one)
        clock.advance(by: .seconds(10))
        let gate = Gate("the store")
        state.hang(at: gate)
        let start = clock.now
        let (result, _) = try await clock.moving { [timers] in
            await one.result(for: .made(deadline: start + .seconds(3), on: timers))
        }
        #expect(result.failure?.kind == .deadlineExceeded)
        #expect(clock.now - start == .seconds(3))
        gate.open()
        state.hang(at: nil)
        // The next request is the trial.
        clock.advance(by: .seconds(60))
        backend.status.withLock { $0 = 200 }
        #expect(await call(one) == "200")
    }

    @Test func aStoreThatLosesTheRecordDoesNotCloseTheCircuit() async {
        let (one, other) = (instance(), instance())
        await open(one)
        await refresh(other, until: "circuitOpen")
        state.lose()
        await refresh(other, until: "circuitOpen")
        clock.advance(by: .seconds(10))
        backend.status.withLock { $0 = 200 }
        #expect(await call(other) == "200")
    }
}
