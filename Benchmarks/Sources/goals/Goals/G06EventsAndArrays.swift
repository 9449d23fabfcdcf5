// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import MicroCases

/// Server-sent events of about 100 bytes, and the elements of one JSON array, compared with decoding the whole array.
struct G06EventsAndArrays: Goal {
    let number = "G6"
    let title = "server-sent events, and the elements of one JSON array"

    func measure(on bench: Bench) async throws -> Outcome {
        let eventCount = bench.isQuick ? 100_000 : 1_000_000
        let event = "data: " + String(repeating: "All work and no play. ", count: 4) + "12345\n\n"
        let events = ParserInput(String(repeating: event, count: eventCount))
        let count = bench.isQuick ? 50_000 : 300_000
        let array = ParserInput("[" + (0..<count).map(ParserRecord.text).joined(separator: ",") + "]")

        var contest = Contest()
        contest.add("events") {
            let format = StreamFormat<ServerSentEvent>.events
            return Double(events.data.count) / 1e6 / (try await events.seconds(reading: format, expecting: eventCount))
        }
        contest.add("elements") {
            let format = StreamFormat<ParserRecord>.elements
            return Double(count) / (try await array.seconds(reading: format, expecting: count))
        }
        contest.add("bare") {
            let start = ProcessorTime.now
            let records = try JSONDecoder().decode([ParserRecord].self, from: array.data)
            let elapsed = ProcessorTime.now - start
            guard records.count == count else { throw WrongFixture(description: "\(records.count) records") }
            return Double(count) / elapsed
        }
        let samples = try await contest.run(rounds: 5)

        var outcome = Outcome(goal: number, title: title)
        outcome.add(Figure("elements", samples.median("elements"), .perSecond))
        outcome.add(Figure("the whole array at once", samples.median("bare"), .perSecond))
        outcome.add(Check("events of 100 bytes", samples.median("events"), atLeast: 300, .megabytesPerSecond))
        outcome.add(Check("elements, × the bare decoder", samples.ratio("elements", to: "bare"), atLeast: 0.80))
        return outcome
    }
}
