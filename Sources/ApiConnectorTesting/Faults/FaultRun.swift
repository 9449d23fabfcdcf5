// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

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
