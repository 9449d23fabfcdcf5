// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import MicroCases

/// Decodes a million NDJSON records, compared with a bare loop of JSONDecoder over slices.
///
/// Also measures splitting alone.
struct G05JSONLines: Goal {
    let number = "G5"
    let title = "a million NDJSON records, decoded"

    func measure(on bench: Bench) async throws -> Outcome {
        let count = bench.isQuick ? 50_000 : 1_000_000
        let input = ParserInput((0..<count).map { ParserRecord.text($0) + "\n" }.joined())
        var contest = Contest()
        contest.add("ours") {
            let format = StreamFormat<ParserRecord>.jsonLines
            return Double(count) / (try await input.seconds(reading: format, expecting: count))
        }
        contest.add("bare") {
            Double(count) / (try ProcessorTime.seconds { try decodeSlices(of: input.data, expecting: count) })
        }
        contest.add("kept") {
            Double(count)
                / (try ProcessorTime.seconds { try decodeSlices(of: input.data, expecting: count, keeping: 512) })
        }
        contest.add("splitting") {
            Double(input.data.count) / 1e6 / (try await input.seconds(reading: .lineData, expecting: count))
        }
        let samples = try await contest.run(rounds: 5)

        var outcome = Outcome(goal: number, title: title)
        outcome.add(Figure("ours", samples.median("ours"), .perSecond))
        outcome.add(Figure("a bare loop over slices", samples.median("bare"), .perSecond))
        outcome.add(Figure("one that keeps 512 records at a time", samples.median("kept"), .perSecond))
        outcome.add(Check("× the bare loop", samples.ratio("ours", to: "bare"), atLeast: 0.90))
        outcome.add(Check("splitting alone", samples.median("splitting"), atLeast: 1_000, .megabytesPerSecond))
        return outcome
    }

    /// Decodes each slice with a bare loop.
    ///
    /// - Parameter keptCount: The number of records that are kept and then released together, like the batch of a
    ///   stream.
    private func decodeSlices(of data: Data, expecting count: Int, keeping keptCount: Int = 1) throws {
        let decoder = JSONDecoder()
        var received = 0
        var kept: [ParserRecord] = []
        try data.forEachLine { line in
            let record = try decoder.decode(ParserRecord.self, from: line)
            received += 1
            if keptCount == 1 { return keep(record) }
            kept.append(record)
            if kept.count == keptCount {
                keep(kept)
                kept = []
            }
        }
        guard received == count else { throw WrongFixture(description: "\(received) slices, not \(count)") }
    }
}
