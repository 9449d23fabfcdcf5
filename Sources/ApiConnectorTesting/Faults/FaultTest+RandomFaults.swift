// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

extension FaultTest {
    /// Runs a test's body once for each seed, with faults in a percentage of its exchanges.
    ///
    /// A first run, without a fault, records the exchanges, so that the percentage is exact: 10 % of *n* calls are
    /// *n*/10 calls, rounded. The seed and the requests determine which calls fail and how. The order of concurrent
    /// calls has no influence. The choice is the same on every platform.
    ///
    /// A failed run is repeated with fewer and fewer faults. The error contains the seed and the smallest plan that
    /// still fails. The body is written as for ``FaultTest/everySingleFault(of:within:_:)``.
    ///
    /// Concurrent calls share the run's clock. A timeout over several attempts, such as the timeout of a retry policy,
    /// may pass while the server of another call is silent. Do not set such a timeout if a fault may be a stall.
    ///
    /// - Parameters:
    ///   - percent: The percentage of calls that fail; 10 by default.
    ///   - sweep: The possible faults; ``Fault/transient`` by default.
    ///   - seeds: The seeds of the choices; 0 to 19 by default.
    ///   - limit: The longest duration of a run in real time; one minute by default.
    ///   - body: The test, run once for each seed, one run at a time.
    /// - Throws: An error with the first seed whose run failed. An error also if the percentage selects no call.
    public static func randomFaults(
        _ percent: Int = 10,
        of sweep: FaultSweep = .transient,
        seeds: some Sequence<UInt64> = 0..<20,
        within limit: Duration = .seconds(60),
        _ body: @escaping @Sendable (FaultRun) async throws -> Void
    ) async throws {
        let trial = FaultTrial(limit: limit, body: body)
        let exchanges = try await trial.recorded()
        for seed in seeds {
            try Task.checkCancellation()
            let plan = FaultPlan(percent, of: exchanges, sweep, seed)
            guard !plan.faults.isEmpty || percent <= 0 else {
                let text =
                    "\(percent) % of \(exchanges.count) calls is less than one call, so no fault would be injected; "
                throw FaultFailure(text + "give a higher percentage, or send more calls", [])
            }
            guard let failure = await trial.failure(in: FaultRun(plan)) else { continue }
            let smallest = await trial.smallest(of: plan)
            let count = plan.faults.count == 1 ? "1 fault" : "\(plan.faults.count) faults"
            throw FaultFailure(
                """
                With seed \(seed) and \(count) it fails: \(failure)
                The smallest plan that still fails: \(smallest.source)
                """,
                [smallest]
            )
        }
    }

    /// Reduces a failing plan to a minimal one with which a test's body still fails.
    ///
    /// If any one of the returned faults is left out, the body succeeds.
    ///
    /// - Parameters:
    ///   - plan: The plan. For a percentage, pass the faults that it has injected.
    ///   - limit: The longest duration of a run in real time; one minute by default.
    ///   - body: The test, written as for ``FaultTest/everySingleFault(of:within:_:)``.
    /// - Returns: The smallest plan; nil if the body succeeds with the whole plan.
    public static func smallestFailingPlan(
        of plan: FaultPlan,
        within limit: Duration = .seconds(60),
        _ body: @escaping @Sendable (FaultRun) async throws -> Void
    ) async -> FaultPlan? {
        let trial = FaultTrial(limit: limit, body: body)
        let run = FaultRun(plan)
        guard await trial.failure(in: run) != nil else { return nil }
        if case .list = plan.content { return await trial.smallest(of: plan) }
        return await trial.smallest(of: FaultPlan(run.injected))
    }
}

extension FaultPlan {
    /// Chooses an exact percentage of known exchanges, independent of their order.
    init(_ percent: Int, of exchanges: [FaultInjector.Exchange], _ sweep: FaultSweep, _ seed: UInt64) {
        let count = (exchanges.count * min(max(percent, 0), 100) + 50) / 100
        let ranked = exchanges.filter { !sweep.faults($0).isEmpty }.map { exchange in
            var random = KeyedRandom(seed, exchange.key.full, exchange.call)
            return (rank: random.next(), choice: random.next(), exchange: exchange)
        }
        let order = ranked.sorted {
            ($0.rank, $0.exchange.key.full, $0.exchange.call) < ($1.rank, $1.exchange.key.full, $1.exchange.call)
        }
        let faults = order.prefix(count).compactMap { item -> FaultPlan.Entry? in
            let faults = sweep.faults(item.exchange)
            guard !faults.isEmpty else { return nil }
            let choice = Int(item.choice.multipliedFullWidth(by: UInt64(faults.count)).high)
            return item.exchange.planned(faults[choice])
        }
        self.init(faults)
    }
}

extension FaultTrial {
    /// The smallest part of a failing plan that still fails.
    func smallest(of plan: FaultPlan) async -> FaultPlan {
        FaultPlan(
            await smallestFailing(plan.faults) { faults in
                await failure(in: FaultRun(FaultPlan(faults))) != nil
            }
        )
    }
}

/// Delta debugging (Zeller and Hildebrandt, 2002): leaves out smaller and smaller parts, as long as the rest still
/// fails.
///
/// - Returns: A minimal list for which `fails` still returns true: if any one item is removed, it returns false.
func smallestFailing<Item>(_ items: [Item], _ fails: ([Item]) async -> Bool) async -> [Item] {
    var items = items
    var partCount = 2
    while items.count > 1 {
        let size = (items.count + partCount - 1) / partCount
        var smaller: [Item]?
        for start in stride(from: 0, to: items.count, by: size) {
            let rest = Array(items[..<start] + items[min(start + size, items.count)...])
            if await fails(rest) {
                smaller = rest
                break
            }
        }
        if let smaller {
            items = smaller
            partCount = max(partCount - 1, 2)
        } else if size == 1 {
            break
        } else {
            partCount = min(partCount * 2, items.count)
        }
    }
    return items
}
