// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Inspector
import MicroCases

/// The cost of measuring times, of an ``ExchangeArchive`` and of an ``Inspector``.
///
/// - Times: the requests of G1 and G14 with and without them, in pairs. A check fails if the cost is proven to be more
///   than its goal, so it judges the lower end of the interval of the median. The line has the whole interval.
/// - Archive and inspector: canned responses, as in G3. Without an archive, the wrapper has nothing to do.
struct G18Timings: Goal {
    let number = "G18"
    let title = "times, an archive and an inspector"

    /// The median of a cost in percent, and its interval.
    struct Cost {
        let median: Double
        let interval: MedianInterval

        /// - Parameter ratios: The ratios of times: with to without.
        init(ofTimes ratios: [Double]) {
            let percents = ratios.map { ($0 - 1) * 100 }
            (median, interval) = (percents.median, MedianInterval(of: percents))
        }

        /// - Parameter ratios: The ratios of rates: with to without.
        init(ofRates ratios: [Double]) {
            self.init(ofTimes: ratios.map { 1 / $0 })
        }

        func add(_ name: String, to outcome: inout Outcome) {
            outcome.add(Figure("\(name), median", median, .percent))
            outcome.add(Figure("\(name), upper end", interval.upper, .percent))
            outcome.add(Check("\(name), lower end", interval.lower, atMost: 1, .percent))
        }
    }

    func measure(on bench: Bench) async throws -> Outcome {
        var outcome = Outcome(goal: number, title: title)
        let nginx = try bench.nginx()
        let lines: [(name: String, scheme: HTTPScheme, port: Int, inFlight: Int)] = [
            ("G1, 1 in flight", .http, nginx.port, 1),
            ("G1, 16 in flight", .http, nginx.port, 16),
            ("G14, 16 in flight", .https, nginx.multiplexedPort, 16),
        ]
        for line in lines {
            let arguments = [
                "timings", line.scheme.rawValue, "\(line.port)", "--in-flight", "\(line.inFlight)",
                "--pairs", bench.isQuick ? "30" : "100", "--turn-milliseconds", "100", "--width", "0.01",
            ]
            let reading = try Program.child(
                arguments,
                environment: nginx.trustingEnvironment,
                as: TimingsCommand.Reading.self
            )
            outcome.add(Figure("\(line.name), processor time without times", reading.microseconds, .microseconds))
            Cost(ofTimes: reading.processorTime).add("\(line.name), processor time", to: &outcome)
            Cost(ofRates: reading.perSecond).add("\(line.name), requests", to: &outcome)
        }
        try await measureArchives(on: bench, &outcome)
        return outcome
    }

    private func measureArchives(on bench: Bench, _ outcome: inout Outcome) async throws {
        let data = Data(NginxServer.smallBody.utf8)
        let provider = TestConnector { _ in .data(data, headers: ["Content-Type": "application/json"]) }
        let (archive, inspector) = (ExchangeArchive(), Inspector())
        // The page is served, but no browser has opened it.
        let server = Task { try await inspector.run() }
        defer { server.cancel() }
        _ = try await inspector.address()
        let none = ConnectorGet(provider, port: 80)
        let off = ConnectorGet(provider.archived(in: nil), port: 80)
        let archived = ConnectorGet(provider.archived(in: archive), port: 80)
        let inspected = ConnectorGet(provider.inspected(by: inspector), port: 80)
        for get in [none, off, archived, inspected] as [any SmallGet] { try await get.check() }
        guard archive.exchanges.last?.responseBody?.bytes == data,
            inspector.archive.exchanges.last?.responseBody?.bytes == data
        else { throw WrongFixture(description: "the archive does not have the response") }

        let count = bench.isQuick ? 20_000 : 50_000
        var contest = Contest()
        contest.add("none") { try await Rate.microseconds(count: count) { keep(try await none.value()) } }
        contest.add("off") { try await Rate.microseconds(count: count) { keep(try await off.value()) } }
        contest.add("archive") { try await Rate.microseconds(count: count) { keep(try await archived.value()) } }
        contest.add("inspector") { try await Rate.microseconds(count: count) { keep(try await inspected.value()) } }
        let samples = try await contest.run(rounds: bench.rounds)
        outcome.add(Figure("canned, without a wrapper", samples.median("none"), .microseconds))
        outcome.add(
            Check("inspector off", samples.difference("off", from: "none"), atMost: 0.25, .microseconds),
            Check("archive", samples.difference("archive", from: "none"), atMost: 10, .microseconds),
            Check("inspector", samples.difference("inspector", from: "none"), atMost: 10, .microseconds)
        )
    }
}
