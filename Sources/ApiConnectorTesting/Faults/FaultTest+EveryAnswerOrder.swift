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
    /// The body makes everything again, and throws where what it sees is wrong. Nothing is left to chance: the requests come
    /// in the order of the calls, and a call has ended before the next one is answered.
    ///
    /// - Parameters:
    ///   - limit: The longest that a run may take, in real time; a minute by default.
    ///   - body: Run once for each order, one run at a time.
    /// - Returns: How many runs there were.
    /// - Throws: An error whose text tells every run that failed, each with its order; and where nothing was held.
    @discardableResult
    public static func everyAnswerOrder(
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
}

/// Every order of `count` numbers, the sorted one first.
func permutations(of count: Int) -> [[Int]] {
    (0..<count).reduce([[]]) { orders, _ in
        orders.flatMap { order in (0..<count).filter { !order.contains($0) }.map { order + [$0] } }
    }
}
