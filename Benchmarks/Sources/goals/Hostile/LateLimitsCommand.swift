// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ArgumentParser

/// `goals child late`: plays a hostile fixture, and prints how late time limits end calls at the same time.
struct LateLimitsCommand: AsyncParsableCommand {
    /// The lateness of limits in milliseconds.
    struct Lateness: Codable {
        /// Of calls to a server that sends nothing.
        var healthy: [Double] = []
        /// Of calls that read the fixture.
        var hostile: [Double] = []

        var maximum: Double { (healthy + hostile).max() ?? 0 }
    }

    /// A time limit, from the start of its call.
    enum Limit: CaseIterable {
        case attempt, stall, overall

        static let duration = Duration.milliseconds(50)

        fileprivate var timeouts: Timeouts {
            switch self {
            case .attempt: Timeouts(attempt: Self.duration)
            case .stall: Timeouts(stall: Self.duration)
            case .overall: Timeouts(overall: Self.duration)
            }
        }

        fileprivate var kind: ApiConnectorError.Kind {
            switch self {
            case .attempt: .timedOut
            case .stall: .stalled
            case .overall: .deadlineExceeded
            }
        }
    }

    static let configuration = CommandConfiguration(commandName: "late", shouldDisplay: false)

    /// The time after the last call's start in which each call has to end.
    private static let grace = Duration.seconds(1)

    @Option var fixture: HostileFixture
    @Option var milliseconds = 3000

    func run() async throws {
        let provider = fixture.provider
        let silent = try RawServer { while $0.readHead() != nil {} }
        let hostile = try RawServer { [fixture] in fixture.serve($0) }
        // These calls have no limit.
        let calls = HostileCalls()
        try calls.start(fixture, over: provider, atOnce: fixture.callCount)
        let end = ContinuousClock.now + .milliseconds(milliseconds)
        async let healthyLateness = Self.lateness(Limit.allCases, of: silent.url("/small"), over: provider, until: end)
        async let hostileLateness = Self.lateness(fixture.limits, of: hostile.url("/small"), over: provider, until: end)
        // The process ends while the hostile calls are still running.
        try ChildCommand.report(Lateness(healthy: await healthyLateness, hostile: await hostileLateness))
    }

    /// Calls a URL repeatedly with each limit, and returns the lateness of the limits that ended a call.
    private static func lateness(
        _ limits: [Limit],
        of url: URL,
        over provider: AnyProvider,
        until end: ContinuousClock.Instant
    ) async -> [Double] {
        let api = NetworkConnector<_, SmallRouter>(
            environment: SmallEnvironment(scheme: .http, port: url.port ?? 80),
            provider: provider
        )
        return await withTaskGroup(of: [Double]?.self) { group in
            for limit in limits {
                group.addTask {
                    var all: [Double] = []
                    while ContinuousClock.now < end {
                        if let lateness = await Self.lateness(limit, of: url, api) { all.append(lateness) }
                    }
                    return all
                }
            }
            group.addTask {
                try? await Task.sleep(until: end + Limit.duration + grace)
                return nil
            }
            var (all, remaining): ([Double], Int) = ([], limits.count)
            for await some in group {
                guard let some else {
                    // A call that is still running then ends with the lateness until this moment.
                    group.cancelAll()
                    continue
                }
                all += some
                remaining -= 1
                if remaining == 0 { group.cancelAll() }
            }
            return all
        }
    }

    /// Makes a call, and returns how late the limit ended it; nil if the call ended otherwise.
    private static func lateness(
        _ limit: Limit,
        of url: URL,
        _ api: NetworkConnector<AnyProvider, SmallRouter>
    ) async -> Double? {
        let options = CallOptions(maximumBodyByteCount: 1 << 26, timeouts: limit.timeouts)
        let start = ContinuousClock.now
        do {
            _ = try await api.data(at: url, options: options)
            return nil
        } catch {
            let lateness = (ContinuousClock.now - start - Limit.duration).seconds * 1e3
            return error.kind == limit.kind || error.kind == .cancelled ? lateness : nil
        }
    }
}
