// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// A million NDJSON records, decoded, against a bare loop of JSONDecoder over slices; and splitting alone.
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
            let clock = ContinuousClock()
            let start = clock.now
            try decodeSlices(of: input.data, expecting: count)
            return Double(count) / (clock.now - start).seconds
        }
        contest.add("splitting") {
            Double(input.data.count) / 1e6 / (try await input.seconds(reading: .lineData, expecting: count))
        }
        let samples = try await contest.run(rounds: 5)

        var outcome = Outcome(goal: number, title: title)
        outcome.add(Figure("ours", samples.median("ours"), .perSecond))
        outcome.add(Figure("a bare loop over slices", samples.median("bare"), .perSecond))
        outcome.add(Check("× the bare loop", samples.ratio("ours", to: "bare"), atLeast: 0.90))
        outcome.add(Check("splitting alone", samples.median("splitting"), atLeast: 1_000, .megabytesPerSecond))
        return outcome
    }

    private func decodeSlices(of data: Data, expecting count: Int) throws {
        let decoder = JSONDecoder()
        var received = 0
        var start = 0
        while start < data.count, let end = data.newline(from: start) {
            keep(try decoder.decode(ParserRecord.self, from: data[start..<end]))
            received += 1
            start = end + 1
        }
        guard received == count else { throw WrongFixture(description: "\(received) slices, not \(count)") }
    }
}

extension Data {
    /// The place of the next LF, of bytes that are counted from 0.
    fileprivate func newline(from start: Int) -> Int? {
        withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress, let found = memchr(base + start, 10, bytes.count - start) else {
                return nil
            }
            return UnsafeRawPointer(found) - base
        }
    }
}
