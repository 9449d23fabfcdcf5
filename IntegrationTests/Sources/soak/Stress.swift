// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if os(Linux)
import ApiConnector
import Foundation
import Glibc
import MisbehavingServer
import Support
import Synchronization

/// Mixed operations over one provider.
///
/// They run in three rounds:
///
/// 1. A fixed number is in flight. The lateness of the limits is judged in this round.
/// 2. All operations start at the same time.
/// 3. All operations start at the same time, and the process exits when half of them have ended.
///
/// Each operation must end once, with a result that its kind allows. The exit must be prompt.
enum Stress {
    private static let operationCount = 1_080
    private static let inFlight = 64

    /// Runs the operations, prints the results, and exits.
    ///
    /// - Parameter seed: Determines the operations, their limits, and the moments of cancellations.
    static func run(seed: UInt64) async throws {
        print("stress with seed \(seed)")
        // The first handler runs last.
        Exit.reportDuration()
        let log = StressLog()
        Watchdog.start(reportingEvery: 1, endedCount: { log.endedCount }, openCalls: { log.openOperations })
        var hasFailed = try await round(seed, inFlight: inFlight, log, judgesLateness: true)
        hasFailed = try await round(seed &+ 1, inFlight: operationCount, log) || hasFailed
        try await exitMidway(seed &+ 2, log, hasFailed)
    }

    /// Runs the operations, and returns whether there were problems.
    private static func round(
        _ seed: UInt64,
        inFlight: Int,
        _ log: StressLog,
        judgesLateness: Bool = false
    ) async throws -> Bool {
        let operations = operations(seed)
        let stage = try StressStage(operations)
        defer { stage.removeFolder() }
        let start = ContinuousClock.now
        await withTaskGroup(of: Void.self) { group in
            for (index, operation) in operations.enumerated() {
                if index >= inFlight { await group.next() }
                group.addTask { await log.run(operation, on: stage) }
            }
        }
        print("\(operationCount) operations, \(inFlight) in flight: \(ContinuousClock.now - start)")
        return report(log.takeProblems(judgesLateness: judgesLateness) + stage.problems)
    }

    private static func exitMidway(_ seed: UInt64, _ log: StressLog, _ hasFailed: Bool) async throws {
        let operations = operations(seed)
        let stage = try StressStage(operations)
        await withTaskGroup(of: Void.self) { group -> Void in
            for operation in operations { group.addTask { await log.run(operation, on: stage) } }
            for _ in 0..<operationCount / 2 { await group.next() }
            print("exiting with \(log.openOperations.count) open operations")
            let hasProblems = report(log.takeProblems(judgesLateness: false) + stage.problems)
            stage.removeFolder()
            Exit.begin(status: hasFailed || hasProblems ? 1 : 0)
        }
    }

    private static func operations(_ seed: UInt64) -> [StressOperation] {
        (0..<operationCount).map { StressOperation(number: $0, seed: seed) }
    }

    private static func report(_ problems: [String]) -> Bool {
        for problem in problems { print("error: \(problem)") }
        return !problems.isEmpty
    }
}

/// An exit whose duration is limited.
private enum Exit {
    /// The library's exit handler waits up to five seconds for a thread inside libcurl.
    private static let limit = Duration.seconds(5)
    private static let start = Mutex(ContinuousClock.Instant?.none)

    /// Registers a handler that prints the duration of the exit, and fails if it is too long.
    static func reportDuration() {
        atexit {
            guard let start = Exit.start.withLock({ $0 }) else { return }
            let duration = ContinuousClock.now - start
            print("the exit took \(duration)")
            if duration >= Exit.limit { Exit.fail() }
        }
    }

    static func begin(status: Int32) -> Never {
        start.withLock { $0 = .now }
        Thread {
            sleep(15)
            fail()
        }
        .start()
        exit(status)
    }

    private static func fail() -> Never {
        print("error: the process must exit within \(limit)")
        fflush(nil)
        _exit(1)
    }
}

/// The server, the provider and the sessions that the operations share.
final class StressStage: Sendable {
    /// A connection with a token that its first calls replace in one refresh.
    struct Session: Sendable {
        let api: NetworkConnector<AnyProvider, AnyRoute>
        let refreshCount: RefreshCount
    }

    final class RefreshCount: Sendable {
        let value = Atomic(0)
    }

    /// The number of calls that share a session.
    private static let callCountOfSession = 9

    let provider = CurlProvider(configuration: CurlConfiguration())
    let api: NetworkConnector<CurlProvider, AnyRoute>
    /// A folder for downloads.
    let folder = FileManager.default.temporaryDirectory.appending(path: "stress-\(UUID().uuidString)")
    private let server: MisbehavingServer
    private let sessions: [Session]

    init(_ operations: [StressOperation]) throws {
        let (server, provider) = (try MisbehavingServer(), provider)
        self.server = server
        api = NetworkConnector(environment: .loopback, provider: provider)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let callCount = operations.count { $0.kind == .refresh }
        sessions = (0...callCount / Self.callCountOfSession).map { _ in
            let count = RefreshCount()
            let credentials = RefreshableCredentials(.bearer("stale")) { _ in
                count.value.add(1, ordering: .relaxed)
                _ = try await provider.response(for: ApiRequest(url: server.url(.late)))
                return .bearer(Behavior.freshToken)
            }
            let authenticating = provider.authenticating(by: credentials, for: .origins(server.url(.guarded)))
            let api = NetworkConnector(
                environment: .loopback,
                provider: AnyProvider(authenticating),
                router: AnyRoute.self
            )
            return Session(api: api, refreshCount: count)
        }
    }

    func removeFolder() { try? FileManager.default.removeItem(at: folder) }

    func url(_ behavior: Behavior) -> URL { server.url(behavior) }

    func session(for operation: StressOperation) -> Session {
        sessions[operation.number / StressOperation.Kind.allCases.count / Self.callCountOfSession]
    }

    /// Each session must have refreshed its token at most once.
    var problems: [String] {
        sessions.map { $0.refreshCount.value.load(ordering: .relaxed) }.filter { $0 > 1 }
            .map { "\($0) refreshes instead of 1 for a session" }
    }
}

/// The states and the results of the operations.
final class StressLog: Sendable {
    private struct State {
        var open: [Int: (kind: StressOperation.Kind, start: ContinuousClock.Instant, text: String)] = [:]
        var endedCount = 0
        var results: [String: Int] = [:]
        var problems: [String] = []
        /// The lateness of limits, and of short calls that were due at the same times, in milliseconds.
        var limits: [Double] = []
        var calls: [Double] = []
    }

    private let state = Mutex(State())

    var endedCount: Int { state.withLock { $0.endedCount } }

    /// The kind, the age and the last state of each open operation.
    var openOperations: [String] {
        let now = ContinuousClock.now
        return state.withLock { $0.open }.sorted { $0.key < $1.key }
            .map { "\($0.key) \($0.value.kind), \(now - $0.value.start): \($0.value.text)" }
    }

    func run(_ operation: StressOperation, on stage: StressStage) async {
        state.withLock { $0.open[operation.number] = (operation.kind, .now, "started") }
        do {
            let result = try await operation.run(on: stage, self)
            end(operation) { $0.results["\(operation.kind): \(result)", default: 0] += 1 }
        } catch {
            end(operation) { $0.problems.append("\(operation.number) \(operation.kind): \(error)") }
        }
    }

    private func end(_ operation: StressOperation, _ record: (inout State) -> Void) {
        state.withLock { state in
            state.open[operation.number] = nil
            state.endedCount += 1
            record(&state)
        }
    }

    func note(_ text: String, _ number: Int) {
        state.withLock { $0.open[number]?.text = text }
    }

    func add(_ lateness: Duration, besideCall callsLateness: Duration) {
        state.withLock { state in
            state.limits.append(lateness / .milliseconds(1))
            state.calls.append(callsLateness / .milliseconds(1))
        }
    }

    /// Prints the results since the last call, and returns the problems.
    func takeProblems(judgesLateness: Bool) -> [String] {
        let state = state.withLock { state in
            defer { (state.results, state.problems, state.limits, state.calls) = ([:], [], [], []) }
            return state
        }
        for (result, count) in state.results.sorted(by: { $0.key < $1.key }) { print("\(count)\t\(result)") }
        guard judgesLateness else { return state.problems }
        let (limit, call) = (Percentiles(state.limits), Percentiles(state.calls))
        print("a limit ends its call late by: \(limit)")
        print("a short call that is due at the same time takes: \(call)")
        if limit.isSoon(after: call) { return state.problems }
        let problem = "95 of 100 limits must be late by at most 50 ms and twice the time of 95 of 100 short calls"
        return state.problems + [problem]
    }
}
#endif
