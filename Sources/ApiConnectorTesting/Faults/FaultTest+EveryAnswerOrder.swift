// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

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
