// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Inspector
import MicroCases

/// The cost of measuring times, of an ``ExchangeArchive`` and of an ``Inspector``.
///
/// - Times: the requests of G1 and G14 with and without them.
/// - Archive and inspector: canned responses, as in G3. Without an archive, the wrapper has nothing to do.
///
/// Both take turns in pairs. A check fails if the cost is proven to be more than its goal, so it judges the lower end of
/// the interval of the median. The line has the whole interval.
struct G18Timings: Goal {
    let number = "G18"
    let title = "times, an archive and an inspector"

    /// The median of a cost, and its interval.
    struct Cost {
        private let median: Double
        private let interval: MedianInterval
        private let unit: Unit

        /// A cost in percent.
        ///
        /// - Parameter ratios: The ratios of times: with to without.
        init(ofTimes ratios: [Double]) {
            self.init(ratios.map { ($0 - 1) * 100 }, .percent)
        }

        /// A cost in percent.
        ///
        /// - Parameter ratios: The ratios of rates: with to without.
        init(ofRates ratios: [Double]) {
            self.init(ofTimes: ratios.map { 1 / $0 })
        }

        /// A cost in microseconds.
        ///
        /// - Parameter differences: The differences of times: with minus without.
        init(ofDifferences differences: [Double]) {
            self.init(differences, .microseconds)
        }

        private init(_ values: [Double], _ unit: Unit) {
            (median, interval, self.unit) = (values.median, MedianInterval(of: values), unit)
        }

        func add(_ name: String, atMost bound: Double, to outcome: inout Outcome) {
            outcome.add(Figure("\(name), median", median, unit))
            outcome.add(Figure("\(name), upper end", interval.upper, unit))
            outcome.add(Check("\(name), lower end", interval.lower, atMost: bound, unit))
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
                "--pairs", "\(pairCount(on: bench))", "--turn-milliseconds", "100", "--width", "0.01",
            ]
            let reading = try Program.child(
                arguments,
                environment: nginx.trustingEnvironment,
                as: TimingsCommand.Reading.self
            )
            outcome.add(Figure("\(line.name), processor time without times", reading.microseconds, .microseconds))
            Cost(ofTimes: reading.processorTime).add("\(line.name), processor time", atMost: 1, to: &outcome)
            Cost(ofRates: reading.perSecond).add("\(line.name), requests", atMost: 1, to: &outcome)
        }
        try await measureArchives(on: bench, &outcome)
        return outcome
    }

    private func pairCount(on bench: Bench) -> Int { bench.isQuick ? 15 : 100 }

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

        let wrappers: [(name: String, bound: Double, call: @Sendable () async throws -> Void)] = [
            ("inspector off", 0.1, { keep(try await off.value()) }),
            ("archive", 10, { keep(try await archived.value()) }),
            ("inspector", 10, { keep(try await inspected.value()) }),
        ]
        for wrapper in wrappers {
            var bare: [Double] = []
            let differences = try await PairedTurns.figures(pairCount: pairCount(on: bench), width: 0.1) { isFirst in
                var (with, without) = (0.0, 0.0)
                for isWith in [isFirst, !isFirst] {
                    if isWith {
                        with = try await microseconds(wrapper.call)
                    } else {
                        without = try await microseconds { keep(try await none.value()) }
                    }
                }
                bare.append(without)
                return [with - without]
            }
            outcome.add(Figure("canned, without \(wrapper.name)", bare.median, .microseconds))
            Cost(ofDifferences: differences[0]).add(wrapper.name, atMost: wrapper.bound, to: &outcome)
        }
    }

    private func microseconds(_ call: @Sendable () async throws -> Void) async throws -> Double {
        try await Rate.microseconds(count: 5_000, call)
    }
}
