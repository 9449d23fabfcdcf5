// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ArgumentParser
import MicroCases

/// A thousand idle streams on one provider, with requests at the same time.
///
/// The streams and the requests run together in a child process.
struct G10IdleStreams: Goal {
    let number = "G10"
    let title = "1,000 idle streams on one SystemProvider"

    func measure(on bench: Bench) async throws -> Outcome {
        let arguments = [
            "hold", "http://127.0.0.1:\(try bench.holdingServer().port)/",
            try bench.nginx().url("/small").absoluteString,
            "\(bench.rounds)", "\(Int(bench.turn.seconds * 1000) / 2)",
        ]
        let holding = try Program.child(arguments, as: HoldStreamsCommand.Holding.self)
        var outcome = Outcome(goal: number, title: title)
        outcome.add(Figure("a concurrent request", holding.beside.median, .microseconds))
        outcome.add(Figure("alone", holding.alone.median, .microseconds))
        let ratio = zip(holding.beside, holding.alone).map { $0 / $1 }.median
        outcome.add(
            Check("memory of each", Double(holding.byteCountPerStream) / 1024, atMost: 64, .kilobytes),
            Check("threads more than before", Double(holding.threadCount), atMost: 8, .count),
            Check("a concurrent request, × alone", ratio, atMost: 1.2)
        )
        return outcome
    }
}

/// `goals child hold`: opens streams, and measures requests with and without the streams by turns.
struct HoldStreamsCommand: AsyncParsableCommand {
    struct Holding: Codable {
        var byteCountPerStream = 0
        /// The additional threads while the streams are open.
        var threadCount = 0
        /// The time of a request in microseconds, round by round.
        var alone: [Double] = []
        var beside: [Double] = []
    }

    static let configuration = CommandConfiguration(commandName: "hold", shouldDisplay: false)
    private static let count = 1000

    @Argument var url: String
    @Argument var smallURL: String
    @Argument var rounds: Int
    @Argument var turnMilliseconds: Int

    func run() async throws {
        guard let url = URL(string: url), let small = URL(string: smallURL) else { throw ValidationError("no URL") }
        ProcessMemory.raiseDescriptorLimit()
        let provider = SystemProvider()
        _ = try await microseconds(small, provider)
        var holding = Holding()
        let (memory, threads) = (ProcessMemory.resident, ProcessMemory.threadCount)
        for round in 0..<rounds {
            // When this request returns, the streams of the last round are closed.
            _ = try await provider.response(for: ApiRequest(url: small)).body.collect(upTo: 1 << 20)
            holding.alone.append(try await microseconds(small, provider))
            let bodies = try await open(url, provider)
            if round == 0 {
                holding.byteCountPerStream = (ProcessMemory.resident - memory) / Self.count
                holding.threadCount = ProcessMemory.threadCount - threads
            }
            holding.beside.append(try await microseconds(small, provider))
            withExtendedLifetime(bodies) {}
        }
        try ChildCommand.report(holding)
    }

    private func open(_ url: URL, _ provider: SystemProvider) async throws -> [ResponseBody] {
        try await withThrowingTaskGroup(of: ResponseBody.self) { group in
            for _ in 0..<Self.count {
                group.addTask { try await provider.response(for: ApiRequest(url: url, delivery: .streamed)).body }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    private func microseconds(_ url: URL, _ provider: SystemProvider) async throws -> Double {
        1e6
            / (try await Rate.perSecond(inFlight: 1, for: .milliseconds(turnMilliseconds)) {
                let response = try await provider.response(for: ApiRequest(url: url))
                keep(try await response.body.collect(upTo: 1 << 20))
            })
    }
}
