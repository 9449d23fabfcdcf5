// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

extension FaultTest {
    /// Runs a test's body once for each possible fault of each exchange, with one fault per run.
    ///
    /// A first run, without a fault, records the exchanges. In each run the body must:
    ///
    /// - Create all its objects again.
    /// - Wrap its provider with `injecting(_:)`.
    /// - Give its connection the run's ``FaultRun/timeSource``, so that timeouts and retry delays take no real time.
    /// - Throw if a result is wrong, or use `#expect` of Swift Testing. A comment with the ``FaultRun`` shows the
    ///   fault.
    ///
    /// ```swift
    /// try await FaultTest.everySingleFault { run in
    ///     let tea = try? await shop(run).value(Tea.self, at: .tea(id: 1))
    ///     #expect(tea == nil || tea == .green, "\(run)")
    /// }
    /// ```
    ///
    /// Scripts that are made in the body are checked in each run. In a run with a fault, an unused answer is not an
    /// issue. A retry needs another answer, so declare answers for retried requests with `times: .atLeastOnce`.
    ///
    /// - Parameters:
    ///   - sweep: The faults to try; every effect at every place by default.
    ///   - limit: The longest duration of a run in real time; one minute by default.
    ///   - body: The test, run once for each fault, one run at a time.
    /// - Returns: The number of runs, the first one included.
    /// - Throws: An error that lists every failed run with its fault.
    @discardableResult
    public static func everySingleFault(
        of sweep: FaultSweep = .standard,
        within limit: Duration = .seconds(60),
        _ body: @escaping @Sendable (FaultRun) async throws -> Void
    ) async throws -> Int {
        let trial = FaultTrial(limit: limit, body: body)
        let faults = try await trial.recorded().flatMap { exchange in sweep.faults(exchange).map(exchange.planned) }
        var failures: [(run: FaultRun, text: String)] = []
        for fault in faults {
            try Task.checkCancellation()
            let run = FaultRun(FaultPlan([fault]))
            if let failure = await trial.failure(in: run) {
                failures.append((run, failure))
            } else if run.injected != [fault] {
                failures.append((run, "the fault was not injected: the exchange of the first run did not occur again"))
            }
        }
        if let failure = FaultFailure(failures, of: faults.count + 1) { throw failure }
        return faults.count + 1
    }

    /// Runs a test's body with its response bodies cut into chunks in many ways.
    ///
    /// Bodies are cut into chunks of 1, 2, 3 … bytes, and at places that can break parsers of UTF-8, JSON, lines and
    /// events.
    ///
    /// The test's body is written as for ``FaultTest/everySingleFault(of:within:_:)``, and must succeed each time. Only
    /// streamed response bodies are cut.
    ///
    /// - Parameters:
    ///   - limit: The longest duration of a run in real time; one minute by default.
    ///   - body: The test, run once for each chunking, one run at a time.
    /// - Returns: The number of runs, the first one included.
    /// - Throws: An error that lists every failed run with its chunking.
    @discardableResult
    public static func everyChunking(
        within limit: Duration = .seconds(60),
        _ body: @escaping @Sendable (FaultRun) async throws -> Void
    ) async throws -> Int {
        let trial = FaultTrial(limit: limit, body: body)
        let bodies = try await trial.recorded(keepingBodies: true).filter(\.isStreamed).map(\.body)
        if bodies.allSatisfy(\.isEmpty) {
            throw FaultFailure("No response body was streamed, and only streamed bodies are cut.", [])
        }
        let chunkings = Chunking.all(of: bodies)
        var failures: [(run: FaultRun, text: String)] = []
        for chunking in chunkings {
            try Task.checkCancellation()
            let run = FaultRun(.none, chunking: chunking)
            if let failure = await trial.failure(in: run) { failures.append((run, failure)) }
        }
        if let failure = FaultFailure(failures, of: chunkings.count + 1) { throw failure }
        return chunkings.count + 1
    }
}
