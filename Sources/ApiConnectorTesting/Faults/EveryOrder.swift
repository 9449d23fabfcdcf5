// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// The calls of one run of ``everyAnswerOrder(within:_:)``, and the order in which they are answered.
public final class AnswerOrder: Sendable, CustomStringConvertible {
    /// The call that this task belongs to, counted from 0.
    @TaskLocal static var call: Int?

    private let order: Locked<[Int]>
    private let calls = Locked<[HeldCall]>([])
    private let runCount = Locked(0)
    private let isHeld = Locked(false)
    /// What the run waits for.
    private let standing = Locked("the body has not ended")

    init(_ order: [Int]) {
        self.order = Locked(order)
    }

    /// Starts the calls one after the other, each when the one before it waits for its answer, and then lets them be
    /// answered in this run's order, each when the one before it has ended.
    ///
    /// A call that neither asks nor ends, or that does not end when it was answered, is named in the error of the run,
    /// whose limit ends the wait.
    ///
    /// - Parameter calls: What sends requests; what a call does not send in its own task or a task of it, or after its
    ///   first answer, is not held.
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
                standing.withLock { $0 = "call \(index + 1) has neither asked for an answer nor ended" }
                group.addTask {
                    await Self.$call.withValue(index) { await call() }
                    held[index].hasEnded.set(())
                    held[index].hasArrived.set(())
                }
                await held[index].hasArrived.value()
            }
            for index in order {
                standing.withLock { $0 = "call \(index + 1) was answered and has not ended" }
                held[index].isReleased.set(())
                await held[index].hasEnded.value()
            }
        }
        standing.withLock { $0 = "the calls have ended, and the body has not" }
    }

    /// The order, such as `3, 1, 2`.
    public var description: String { order.withLock { $0 }.map { "\($0 + 1)" }.joined(separator: ", ") }

    var count: Int { order.withLock { $0.count } }

    /// What a run waits for that does not end.
    var standstill: String { standing.withLock { $0 } }

    /// Why nothing was ordered in a run; nil where it was.
    fileprivate var flaw: String? {
        let runCount = runCount.withLock { $0 }
        if runCount != 1 {
            return "The body has run its calls by order.run(…) \(runCount) times; once is what makes an order."
        }
        return isHeld.withLock { $0 } ? nil : "No answer was held: no provider is answering(in: order)."
    }

    fileprivate func currentCall() -> HeldCall? {
        guard let call = Self.call else { return nil }
        isHeld.withLock { $0 = true }
        return calls.withLock { $0.indices.contains(call) ? $0[call] : nil }
    }
}

/// A call that waits until it is its turn to be answered.
private struct HeldCall: Sendable {
    /// Its request is there, or it has ended without one.
    let hasArrived = Eventual<Void>()
    let isReleased = Eventual<Void>()
    let hasEnded = Eventual<Void>()
}

/// Lets requests be answered in an order; made by `answering(in:)`.
public struct AnsweringInOrder<Wrapped: DataRequestType>: DataRequestType {
    fileprivate let wrapped: Wrapped
    fileprivate let order: AnswerOrder

    /// Sends a request, and hands back what came when it is its turn.
    ///
    /// - Throws: What the wrapped provider throws; of kind `.cancelled`, and at once, when the task is cancelled.
    public func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        let response = try await wrapped.response(for: request)
        guard let call = order.currentCall() else { return response }
        call.hasArrived.set(())
        try await Exchange.wait(for: call.isReleased, of: request, until: nil)
        return response
    }
}

extension DataRequestType {
    /// This provider, which holds back what came for each call until it is its turn.
    ///
    /// - Parameter order: What ``everyAnswerOrder(within:_:)`` handed to the test's body.
    public func answering(in order: AnswerOrder) -> AnsweringInOrder<Self> {
        AnsweringInOrder(wrapped: self, order: order)
    }
}

/// Runs a test's body once for each order in which its calls can be answered: *k*! times for *k* calls.
///
/// ```swift
/// try await everyAnswerOrder { order in
///     let search = Search(provider: TestConnector(script).answering(in: order))
///     await order.run({ await search.type("g") }, { await search.type("gr") }, { await search.type("gre") })
///     #expect(await search.results == ["green"], "answered in the order \(order)")
/// }
/// ```
///
/// The body makes everything anew, and throws where what it sees is wrong. Nothing is left to chance: the requests come
/// in the order of the calls, and a call has ended before the next one is answered.
///
/// - Parameters:
///   - limit: The longest that a run may take, in real time; a minute by default.
///   - body: Run once for each order, one run at a time.
/// - Returns: How many runs there were.
/// - Throws: ``FaultFailure``: every run that failed, each with its order; and where nothing was held.
@discardableResult
public func everyAnswerOrder(
    within limit: Duration = .seconds(60),
    _ body: @escaping @Sendable (AnswerOrder) async throws -> Void
) async throws -> Int {
    var failures: [String] = []
    // The first run, in the order of the calls, tells how many there are.
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

/// Every order of so many numbers, the sorted one first.
func permutations(of count: Int) -> [[Int]] {
    (0..<count).reduce([[]]) { orders, _ in
        orders.flatMap { order in (0..<count).filter { !order.contains($0) }.map { order + [$0] } }
    }
}
