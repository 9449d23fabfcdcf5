// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// Tests that repeat a body with different faults, chunks or orders of answers.
public enum FaultTest {}

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

/// The faults that are tried on each exchange.
public struct FaultSweep: Sendable {
    let faults: @Sendable (FaultInjector.Exchange) -> [Fault]

    /// Every effect at every place where it is possible: before sending, in the head, at the start, in the middle,
    /// before the last byte and at the end of the body.
    ///
    /// A refused connection and the statuses 503 and 429 occur only before sending, and the status 500 only in the
    /// head.
    public static let standard = FaultSweep { exchange in
        let broken: [Fault.Effect] = [.reset, .timeout, .stall, .truncated, .malformed, .garbage]
        let before = [.refused] + broken + [.status(503), .status(429, retryAfter: .seconds(2))]
        guard exchange.hasHead else { return before.map { Fault($0, at: .beforeSending) } }
        let count = exchange.byteCount
        let offsets = count > 0 ? Set([0, count / 2, count - 1]).sorted() : []
        let ends: [Fault.Place] = count > 0 && exchange.isWhole ? [.end] : []
        return before.map { Fault($0, at: .beforeSending) } + [Fault(.status(500), at: .head)]
            + ([.head] + offsets.map { .byte($0) } + ends).flatMap { place in broken.map { Fault($0, at: place) } }
    }

    /// ``Fault/transient``, without faults in the body if there is no body.
    public static let transient = FaultSweep { exchange in
        Fault.transient.filter { fault in
            switch fault.place {
            case .beforeSending: true
            case .head: exchange.hasHead
            case .byte(let count): count < exchange.byteCount
            case .end: exchange.isWhole && exchange.byteCount > 0
            }
        }
    }

    /// Some effects at every position in a body: before the first byte, between two bytes, and after the last byte.
    ///
    /// - Parameter effects: The effects; a truncated body by default.
    public static func everyByte(_ effects: [Fault.Effect] = [.truncated]) -> FaultSweep {
        FaultSweep { exchange in
            let ends: [Fault.Place] = exchange.isWhole ? [.end] : []
            let places = (0..<exchange.byteCount).map { .byte($0) } + ends
            return places.flatMap { place in effects.map { Fault($0, at: place) } }
        }
    }

    /// The same faults on each exchange.
    public static func only(_ faults: [Fault]) -> FaultSweep {
        FaultSweep { _ in faults }
    }

    /// Returns these faults, except those that a closure selects.
    public func without(_ isMeant: @escaping @Sendable (Fault) -> Bool) -> FaultSweep {
        FaultSweep { exchange in faults(exchange).filter { !isMeant($0) } }
    }
}
