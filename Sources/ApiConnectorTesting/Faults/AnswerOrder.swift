// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// The calls of one run of ``FaultTest/everyAnswerOrder(within:_:)``, and the order in which they are answered.
public final class AnswerOrder: Sendable, CustomStringConvertible {
    /// The call that this task belongs to, counted from 0.
    @TaskLocal static var call: Int?

    private let order: Locked<[Int]>
    private let calls = Locked<[HeldCall]>([])
    private let runCount = Locked(0)
    private let isHeld = Locked(false)
    /// The event that the run waits for.
    private let standing = Locked("the body has not ended")

    init(_ order: [Int]) {
        self.order = Locked(order)
    }

    /// Starts the calls one after the other, and then answers them in this run's order.
    ///
    /// Each call starts when the call before it waits for its answer. Each call is answered when the call before it in
    /// the order has ended.
    ///
    /// If a call neither sends a request nor ends, or does not end after its answer, the run's limit ends the wait. The
    /// run's error then names the call.
    ///
    /// - Parameter calls: The calls to order. Only the first request of each call is held, and only if the call sends
    ///   the request in its own task or in a child task.
    public func run(_ calls: (@Sendable () async -> Void)...) async {
        let held = calls.map { _ in HeldCall() }
        runCount.withLock { $0 += 1 }
        self.calls.withLock { $0 = held }
        let order = order.withLock { order in
            if order.count != calls.count { order = Array(calls.indices) }
            return order
        }
        await withTaskGroup(of: Void.self) { group in
            for (index, call) in calls.enumerated() {
                standing.withLock { $0 = "call \(index + 1) has neither sent a request nor ended" }
                group.addTask {
                    await Self.$call.withValue(index) { await call() }
                    held[index].hasEnded.set(())
                    held[index].hasArrived.set(())
                }
                await held[index].hasArrived.value()
            }
            for index in order {
                standing.withLock { $0 = "call \(index + 1) was answered but has not ended" }
                held[index].isReleased.set(())
                await held[index].hasEnded.value()
            }
        }
        standing.withLock { $0 = "the calls have ended, but the body has not" }
    }

    /// The order, such as `3, 1, 2`.
    public var description: String { order.withLock { $0 }.map { "\($0 + 1)" }.joined(separator: ", ") }

    var count: Int { order.withLock { $0.count } }

    /// The event that a stuck run waits for.
    var standstill: String { standing.withLock { $0 } }

    /// The reason why the run did not order any answers; nil if it did.
    var flaw: String? {
        let runCount = runCount.withLock { $0 }
        if runCount != 1 {
            return "The body called order.run(…) \(runCount) times; it must call it exactly once."
        }
        return isHeld.withLock { $0 } ? nil : "No answer was held; wrap the provider with answering(in: order)."
    }

    func currentCall() -> HeldCall? {
        guard let call = Self.call else { return nil }
        isHeld.withLock { $0 = true }
        return calls.withLock { $0.indices.contains(call) ? $0[call] : nil }
    }
}

/// A call that waits for its turn to be answered.
struct HeldCall: Sendable {
    /// Set when the call has sent a request, or has ended without one.
    let hasArrived = Eventual<Void>()
    let isReleased = Eventual<Void>()
    let hasEnded = Eventual<Void>()
}

/// A provider that returns results in a given order; made by `answering(in:)`.
struct AnsweringInOrder<Wrapped: DataRequestType>: DataRequestType {
    let wrapped: Wrapped
    let order: AnswerOrder

    /// Sends a request, and returns the result when it is the call's turn.
    ///
    /// - Throws: The error of the wrapped provider; kind `.cancelled`, immediately, if the task is canceled.
    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        let response = try await wrapped.response(for: request)
        guard let call = order.currentCall() else { return response }
        call.hasArrived.set(())
        try await OpenExchange.wait(for: call.isReleased, of: request, until: nil)
        return response
    }
}

extension DataRequestType {
    /// Returns this provider, wrapped so that each call gets its result when it is the call's turn.
    ///
    /// - Parameter order: The order that ``FaultTest/everyAnswerOrder(within:_:)`` passed to the test's body.
    public func answering(in order: AnswerOrder) -> some DataRequestType {
        AnsweringInOrder(wrapped: self, order: order)
    }
}

extension FaultTest {
    /// Runs a test's body once for each order in which its calls can be answered: *k*! times for *k* calls.
    ///
    /// ```swift
    /// try await FaultTest.everyAnswerOrder { order in
    ///     let search = Search(provider: TestConnector(script).answering(in: order))
    ///     await order.run({ await search.type("g") }, { await search.type("gr") }, { await search.type("gre") })
    ///     #expect(await search.results == ["green"], "answered in the order \(order)")
    /// }
    /// ```
    ///
    /// In each run, the body must create all its objects again, and throw if a result is wrong. Each run is
    /// deterministic: the requests are sent in the order of the calls, and each call ends before the next call is
    /// answered.
    ///
    /// - Parameters:
    ///   - limit: The longest duration of a run in real time; one minute by default.
    ///   - body: The test, run once for each order, one run at a time.
    /// - Returns: The number of runs.
    /// - Throws: An error that lists every failed run with its order. An error also if no answer was held.
    @discardableResult
    public static func everyAnswerOrder(
        within limit: Duration = .seconds(60),
        _ body: @escaping @Sendable (AnswerOrder) async throws -> Void
    ) async throws -> Int {
        var failures: [String] = []
        // The first run answers in the order of the calls, and counts the calls.
        var orders: [[Int]] = [[]]
        var runCount = 0
        while let next = orders.popLast() {
            try Task.checkCancellation()
            let order = AnswerOrder(next)
            let trial = FaultTrial(limit: limit) { _ in try await body(order) }
            runCount += 1
            if let failure = await trial.failure(in: FaultRun(.none), standstill: { order.standstill }) {
                failures.append("\n- \(order): \(failure)")
            } else if let flaw = order.flaw {
                throw FaultFailure(flaw, [])
            }
            if runCount == 1 { orders = permutations(of: order.count).dropFirst().reversed() }
        }
        guard failures.isEmpty else {
            let shown = failures.prefix(20).joined()
            throw FaultFailure("\(failures.count) of \(runCount) orders of answers failed:\(shown)", [])
        }
        return runCount
    }
}

/// Every order of `count` numbers, starting with the sorted order.
func permutations(of count: Int) -> [[Int]] {
    (0..<count).reduce([[]]) { orders, _ in
        orders.flatMap { order in (0..<count).filter { !order.contains($0) }.map { order + [$0] } }
    }
}
