// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ArgumentParser
import MicroCases

/// The latency of healthy calls, and the lateness of time limits, while the same provider reads a hostile response.
///
/// Each response has its own process.
struct G17HostileNeighbors: Goal {
    let number = "G17"
    let title = "a healthy call during a hostile response"
    private static let bound = 20.0
    /// The maximum lateness of a limit in milliseconds.
    private static let latenessBound = 100.0

    func measure(on bench: Bench) async throws -> Outcome {
        let nginx = try bench.nginx()
        var outcome = Outcome(goal: number, title: title)
        let alone = try neighbor(nil, nginx, bench)
        outcome.add(Figure("alone, p99", alone.p99, .milliseconds))
        for fixture in HostileFixture.allCases {
            let best = try Self.best(of: \.p99, atMost: Self.bound) { try neighbor(fixture, nginx, bench) }
            outcome.add(Figure("\(fixture.name), maximum", best.milliseconds.max() ?? 0, .milliseconds))
            outcome.add(Check("\(fixture.name), p99", best.p99, atMost: Self.bound, .milliseconds))
            let late = try Self.best(of: \.maximum, atMost: Self.latenessBound) { try lateness(fixture, bench) }
            let name = "\(fixture.name), lateness of a limit"
            outcome.add(Check(name, late.maximum, atMost: Self.latenessBound, .milliseconds))
        }
        return outcome
    }

    /// Measures up to three times.
    ///
    /// Another process may have used a core for a while. A delay of more than ten times the bound comes from the
    /// response.
    private static func best<Result>(
        of delay: KeyPath<Result, Double>,
        atMost bound: Double,
        _ measure: () throws -> Result
    ) rethrows -> Result {
        var best = try measure()
        for _ in 0..<2 where best[keyPath: delay] > bound && best[keyPath: delay] < 10 * bound {
            let again = try measure()
            if again[keyPath: delay] < best[keyPath: delay] { best = again }
        }
        return best
    }

    private func lateness(_ fixture: HostileFixture, _ bench: Bench) throws -> LateLimitsCommand.Lateness {
        try Program.child(["late", "--fixture", fixture.rawValue, "--milliseconds", bench.isQuick ? "800" : "3000"])
    }

    private func neighbor(
        _ fixture: HostileFixture?,
        _ nginx: NginxServer,
        _ bench: Bench
    ) throws -> BesideHostileCommand.Latencies {
        let url = nginx.url("/small", isMultiplexed: fixture?.isMultiplexed == true)
        let arguments = ["beside", url.absoluteString, "--milliseconds", bench.isQuick ? "800" : "3000"]
        guard let fixture else { return try Program.child(arguments) }
        return try Program.child(arguments + ["--fixture", fixture.rawValue, "--at-once", "\(fixture.callCount)"])
    }
}

/// `goals child beside`: plays a hostile fixture, and prints the latency of healthy calls at the same time.
struct BesideHostileCommand: AsyncParsableCommand {
    struct Latencies: Codable {
        let milliseconds: [Double]
        /// The number of hostile calls.
        let hostileCallCount: Int
        let peakByteCount: Int

        var p99: Double { milliseconds.quantile(0.99) }
    }

    static let configuration = CommandConfiguration(commandName: "beside", shouldDisplay: false)

    @Argument var url: String
    @Option var fixture: HostileFixture?
    @Option var milliseconds = 3000
    /// The number of hostile calls in flight.
    @Option var atOnce = 1

    func run() async throws {
        guard let url = URL(string: url) else { throw ValidationError("no URL") }
        let provider = fixture?.provider ?? AnyProvider(SystemProvider())
        let healthy: @Sendable () async throws -> Void = {
            keep(try await provider.response(for: ApiRequest(url: url)).body.collect(upTo: 1 << 20))
        }
        for _ in 0..<10 { try await healthy() }
        let calls = HostileCalls()
        if let fixture { try calls.start(fixture, over: provider, atOnce: atOnce) }
        let latencies = try await PacedCalls.milliseconds(
            every: .milliseconds(4),
            for: .milliseconds(milliseconds),
            grace: .seconds(1),
            healthy
        )
        // The process ends while the hostile calls are still running.
        try ChildCommand.report(
            Latencies(milliseconds: latencies, hostileCallCount: calls.count, peakByteCount: ProcessMemory.peak)
        )
    }
}
