// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// A test's body that is run repeatedly.
struct FaultTrial: Sendable {
    typealias Body = @Sendable (FaultRun) async throws -> Void

    let limit: Duration
    let body: Body

    /// Runs the body once, in a new script scope.
    ///
    /// In a run with a fault, unused answers are not issues.
    ///
    /// - Parameters:
    ///   - run: The run.
    ///   - standstill: A text that says what a run waits for if it does not end.
    /// - Returns: The failure; nil if the run succeeds.
    func failure(
        in run: FaultRun,
        standstill: @escaping @Sendable () -> String = {
            "most likely, a wait for a silent server has no timeout"
        }
    ) async -> String? {
        let catching = ScriptScope.current?.catching
        let scope = ScriptScope(named: "the run with \(run)", catching: catching) { _ in }
        let end = Eventual<Result<[String], any Error>>()
        let isFirst = run.plan == .none && run.chunking == nil
        let task = Task { [body] in
            do {
                let issues = try await ScriptScope.$current.withValue(scope) {
                    // The issues of the first run are recorded unchanged.
                    guard !isFirst, let catching else {
                        try await body(run)
                        return [String]()
                    }
                    return try await catching { try await body(run) }
                }
                end.set(.success(issues))
            } catch {
                end.set(.failure(error))
            }
        }
        var failures: [String] = []
        do {
            failures += try await end.value(within: limit, orSay: "it did not end (\(standstill()))").get()
        } catch {
            failures.append(String(describing: error))
        }
        task.cancel()
        let isFaultless = failures.isEmpty && run.plan == .none
        let issues = await scope.end(waitingUpTo: .seconds(1), hasFailed: !isFaultless)
        failures += issues.map(\.description)
        return failures.isEmpty ? nil : failures.joined(separator: " ")
    }

    /// Records the exchanges of the body.
    ///
    /// - Throws: `FaultFailure` if the body fails without any fault, or sends no request.
    func recorded(keepingBodies: Bool = false) async throws -> [FaultInjector.Exchange] {
        let run = FaultRun(.none, keepsBodies: keepingBodies)
        if let failure = await failure(in: run) {
            throw FaultFailure("It fails without any fault: \(failure)", [.none])
        }
        let exchanges = run.injector.exchanges
        if exchanges.isEmpty {
            throw FaultFailure("The run saw no request; wrap the provider with injecting(run).", [])
        }
        return exchanges
    }
}

/// The failures in runs of a test's body.
package struct FaultFailure: Error, CustomStringConvertible {
    /// The plan of each failed run.
    ///
    /// For random faults, it is reduced to a minimal plan that still fails.
    package let plans: [FaultPlan]

    /// Each plan as Swift code, with its failure.
    package let description: String

    init(_ description: String, _ plans: [FaultPlan]) {
        self.description = description
        self.plans = plans
    }

    /// Makes an error from the failed runs; nil if no run failed.
    init?(_ failures: [(run: FaultRun, text: String)], of runCount: Int) {
        guard !failures.isEmpty else { return nil }
        let shown = failures.prefix(20).map { "\n- \($0.run): \($0.text)" }.joined()
        let more = failures.count > 20 ? "\n- and \(failures.count - 20) more" : ""
        self.init("\(failures.count) of \(runCount) runs failed:\(shown)\(more)", failures.map(\.run.plan))
    }
}

/// One run of a test's body, with its faults and its clock.
///
/// ```swift
/// try await FaultTest.everySingleFault { run in
///     let api = NetworkConnector(
///         environment: .test,
///         provider: TestConnector(script).injecting(run).retrying(),
///         router: TeaShop.self,
///         configuration: ConnectionConfiguration(timeSource: run.timeSource)
///     )
///     …
/// }
/// ```
public struct FaultRun: Sendable, CustomStringConvertible {
    /// The faults; none in the first run, which records the exchanges.
    public let plan: FaultPlan

    /// The time source for the connection; waits on it take no real time.
    ///
    /// When no request waits for a server that will answer, the clock moves forward to the end of the next wait or
    /// timeout.
    public let timeSource: any TimeSource

    let injector: FaultInjector
    let chunking: Chunking?

    init(_ plan: FaultPlan, chunking: Chunking? = nil, keepsBodies: Bool = false) {
        let clock = SkippingClock()
        self.plan = plan
        self.chunking = chunking
        timeSource = clock
        injector = FaultInjector(plan, chunking: chunking, clock: clock, keepsBodies: keepsBodies)
    }

    /// The one fault of ``FaultTest/everySingleFault(of:within:_:)``; nil in the first run.
    public var fault: Fault? { plan.faults.first?.fault }

    /// The faults injected so far.
    public var injected: [FaultPlan.Entry] { injector.injected }

    /// The plan as Swift code, or a text that says how bodies are cut.
    public var description: String {
        if let chunking { return chunking.description }
        return plan == .none ? "no fault" : plan.source
    }
}
