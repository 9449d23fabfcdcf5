// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Inspector
import MicroCases

/// The cost of measuring times, of an ``ExchangeArchive`` and of an ``Inspector``.
///
/// - Times: the requests of G1 and G14, which read the times, with a provider that measures them and with one that does
///   not.
/// - Archive and inspector: canned responses, as in G3. Without an archive, the wrapper has nothing to do.
///
/// In each pair of turns, one turn is with the measured part and one without it. A check is met if the median of the
/// cost is at most its goal. The line has the interval of the median: if its upper end is at most the goal, too, the
/// run proves that the goal is met.
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
            addInterval(name, to: &outcome)
            outcome.add(Check(name, median, from: interval, atMost: bound, unit))
        }

        /// Adds the median and its interval without a check.
        func add(_ name: String, to outcome: inout Outcome) {
            outcome.add(Figure(name, median, unit))
            addInterval(name, to: &outcome)
        }

        private func addInterval(_ name: String, to outcome: inout Outcome) {
            outcome.add(Figure("\(name), lower end", interval.lower, unit))
            outcome.add(Figure("\(name), upper end", interval.upper, unit))
        }
    }

    func measure(on bench: Bench) async throws -> Outcome {
        var outcome = Outcome(goal: number, title: title)
        let nginx = try bench.nginx()
        let lines: [(name: String, scheme: HTTPScheme, port: Int, inFlight: Int)] = [
            ("G1, 1 in flight", .http, nginx.port, 1),
            ("G1, 16 in flight", .http, nginx.port, 16),
            ("G14, 1 in flight", .https, nginx.multiplexedPort, 1),
            ("G14, 16 in flight", .https, nginx.multiplexedPort, 16),
            ("G14, 64 in flight", .https, nginx.multiplexedPort, 64),
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
        let (archive, inspector, watched) = (ExchangeArchive(), Inspector(), Inspector())
        // Both pages are served, but only one has a reader.
        let servers = [inspector, watched].map { inspector in Task { try await inspector.run() } }
        defer { for server in servers { server.cancel() } }
        _ = try await inspector.address()
        let none = ConnectorGet(provider, port: 80)
        let off = ConnectorGet(provider.archived(in: nil), port: 80)
        let archived = ConnectorGet(provider.archived(in: archive), port: 80)
        let inspected = ConnectorGet(provider.inspected(by: inspector), port: 80)
        let read = ConnectorGet(provider.inspected(by: watched), port: 80)
        for get in [none, off, archived, inspected, read] as [any SmallGet] { try await get.check() }
        let reader = try await reader(of: watched)
        defer { reader.cancel() }
        guard archive.exchanges.last?.responseBody?.bytes == data,
            inspector.archive.exchanges.last?.responseBody?.bytes == data
        else { throw WrongFixture(description: "the archive does not have the response") }

        let wrappers: [(name: String, bound: Double?, call: @Sendable () async throws -> Void)] = [
            ("inspector off", 0.1, { keep(try await off.value()) }),
            ("archive", 10, { keep(try await archived.value()) }),
            ("inspector", 10, { keep(try await inspected.value()) }),
            // This line has no goal. It includes the processor time of the page and of its reader, but no call waits
            // for them.
            ("inspector with a reader", nil, { keep(try await read.value()) }),
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
            let cost = Cost(ofDifferences: differences[0])
            if let bound = wrapper.bound {
                cost.add(wrapper.name, atMost: bound, to: &outcome)
            } else {
                cost.add(wrapper.name, to: &outcome)
            }
        }
    }

    /// Reads the changes of an inspector's page, as an open page does, until the task is canceled.
    private func reader(of inspector: Inspector) async throws -> Task<Void, any Error> {
        let url = try await inspector.address().appending(path: "changes")
        let body = try await CurlProvider().response(for: ApiRequest(url: url, delivery: .streamed)).body
        let chunks = AsyncStream.makeStream(of: Int.self, bufferingPolicy: .bufferingNewest(1))
        let task = Task {
            for try await chunk in body { chunks.continuation.yield(chunk.count) }
            chunks.continuation.finish()
        }
        // The page sends what the archive has as soon as it is open.
        guard await chunks.stream.first(where: { _ in true }) != nil else {
            throw WrongFixture(description: "the page has no changes")
        }
        return task
    }

    private func microseconds(_ call: @Sendable () async throws -> Void) async throws -> Double {
        try await Rate.microseconds(count: 5_000, call)
    }
}
