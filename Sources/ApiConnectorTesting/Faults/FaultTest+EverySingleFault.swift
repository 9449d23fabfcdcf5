// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

extension FaultTest {
    /// Runs a test's body once for each fault that can befall one of its exchanges, and only one in each run.
    ///
    /// A first run, without a fault, learns the exchanges. The body makes everything again, gives its provider
    /// `injecting(_:)` and its connection the run's ``FaultRun/timeSource``, so that timeouts and waits between attempts
    /// take no time, and throws where what it sees is wrong; what Swift Testing's `#expect` finds is the test's failure as
    /// ever, and ``FaultRun`` in its comment says at which fault.
    ///
    /// ```swift
    /// try await FaultTest.everySingleFault { run in
    ///     let tea = try? await shop(run).value(Tea.self, at: .tea(id: 1))
    ///     #expect(tea == nil || tea == .green, "\(run)")
    /// }
    /// ```
    ///
    /// Scripts made in the body are judged for each run by itself; with a fault, what was not asked for is no issue. A
    /// retry asks again: declare such answers with `times: .atLeastOnce`.
    ///
    /// - Parameters:
    ///   - sweep: Which faults; every effect at every place by default.
    ///   - limit: The longest that a run may take, in real time; a minute by default.
    ///   - body: Run once for each fault, one run at a time.
    /// - Returns: How many runs there were, the first one included.
    /// - Throws: An error whose text tells every run that failed, each with its fault.
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

    /// Runs a test's body once for each way in which its bodies can arrive: in chunks of 1, 2, 3 … bytes, and cut at places
    /// that are hostile to UTF-8, JSON and the framing of lines and events.
    ///
    /// The body is made as for ``FaultTest/everySingleFault(of:within:_:)``, and has to succeed each time. What is cut are bodies
    /// that are streamed.
    ///
    /// - Parameters:
    ///   - limit: The longest that a run may take, in real time; a minute by default.
    ///   - body: Run once for each way, one run at a time.
    /// - Returns: How many runs there were, the first one included.
    /// - Throws: An error whose text tells every run that failed, each with its way to cut.
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
