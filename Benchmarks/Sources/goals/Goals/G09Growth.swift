// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// Twice the input in every parser, in 1 to 64 chunks a record.
struct G09Growth: Goal {
    let number = "G9"
    let title = "twice the input, in 1 to 64 chunks a record"

    func measure(on bench: Bench) async throws -> Outcome {
        var outcome = Outcome(goal: number, title: title)
        for parser in Parser.all {
            var worst = 0.0
            for chunkCount in [1, 8, 64] {
                var contest = Contest()
                for (name, count) in [("once", 40), ("twice", 80)] {
                    let input = parser.input(count, chunkCount: chunkCount)
                    contest.add(name) { try await parser.read(input, count) }
                }
                let samples = try await contest.run(rounds: bench.isQuick ? 5 : 11)
                worst = max(worst, samples.ratio("twice", to: "once"))
            }
            outcome.add(Check(parser.name, worst, atMost: 2.2))
        }
        return outcome
    }

    /// A format, and how its records are written.
    private struct Parser: Sendable {
        let name: String
        var before = ""
        let record: @Sendable (_ text: String, _ index: Int) -> String
        var after = ""
        let read: @Sendable (ParserInput, _ count: Int) async throws -> Double

        /// Records of 64 KB each.
        func input(_ count: Int, chunkCount: Int) -> ParserInput {
            let text = String(repeating: "0123456789abcdef", count: 4096)
            let records = (0..<count).map { record(text, $0) }.joined()
            return ParserInput(before + records + after, chunkByteCount: text.utf8.count / chunkCount)
        }

        static let all = [
            Parser(name: "lines", record: { text, _ in "\(text)\n" }) {
                try await $0.seconds(reading: StreamFormat<String>.lines, expecting: $1)
            },
            Parser(name: "JSON lines", record: { text, _ in "\"\(text)\"\n" }) {
                try await $0.seconds(reading: StreamFormat<String>.jsonLines, expecting: $1)
            },
            Parser(name: "a JSON sequence", record: { text, _ in "\u{1E}\"\(text)\"\n" }) {
                try await $0.seconds(reading: StreamFormat<String>.jsonSequence, expecting: $1)
            },
            Parser(name: "events", record: { text, _ in "data: \(text)\n\n" }) {
                try await $0.seconds(reading: StreamFormat<ServerSentEvent>.events, expecting: $1)
            },
            Parser(
                name: "elements of an array",
                before: "[",
                record: { text, index in index == 0 ? "\"\(text)\"" : ",\"\(text)\"" },
                after: "]"
            ) {
                try await $0.seconds(reading: StreamFormat<String>.elements, expecting: $1)
            },
        ]
    }
}
