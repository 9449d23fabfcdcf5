// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import MicroCases

/// Twice the input in every parser: twice the records, and records twice as long, up to 10 MB, in 1 to 64
/// chunks each, and nested up to 500 deep.
struct G09Growth: Goal {
    let number = "G9"
    let title = "twice the input, records of 10 B to 10 MB in 1 to 64 chunks, nested 1 to 500 deep"
    private static let bound = 2.2
    /// How long a record is; the other one is twice as long.
    ///
    /// What has more than 32 MB malloc takes from the system each time, and fresh pages take longer than all else: with
    /// records of 20 MB their time would be measured.
    private static let sizes = [
        ("10 B", 10), ("1 KB", 1 << 10), ("64 KB", 1 << 16), ("1 MB", 1 << 20), ("5 MB", 5 << 20),
    ]

    func measure(on bench: Bench) async throws -> Outcome {
        var outcome = Outcome(goal: number, title: title)
        for format in GrowingFormat.all {
            var worst = (growth: 0.0, name: "")
            for input in Self.inputs(of: format, isQuick: bench.isQuick) {
                let growth = try await Self.growth(of: input, rounds: bench.isQuick ? 3 : 7)
                if growth > worst.growth { worst = (growth, input.name) }
            }
            let check = Check(format.name, worst.growth, atMost: Self.bound)
            if !check.isMet { outcome.add(Figure("\(format.name), \(worst.name)", worst.growth, .times)) }
            outcome.add(check)
        }
        return outcome
    }

    /// An input, and what is twice as much of it.
    private struct Input {
        let name: String
        let once: @Sendable () async throws -> Double
        let twice: [@Sendable () async throws -> Double]
    }

    private static func inputs(of format: GrowingFormat, isQuick: Bool) -> [Input] {
        let (totalByteCount, totalChunkCount) = isQuick ? (1 << 18, 2_000) : (4 << 20, 16_000)
        var inputs: [Input] = []
        // What does not fit the processor's caches grows as the neighbors let it: a busy machine's quick run leaves it
        // out.
        for (name, byteCount) in sizes where !isQuick || byteCount <= 1 << 20 {
            let isLarge = byteCount >= 1 << 20
            for chunkCount in isQuick && isLarge ? [64] : [1, 8, 64] where chunkCount <= byteCount {
                let count = max(1, min(totalByteCount / byteCount, totalChunkCount / chunkCount))
                let input = format.input(count, byteCount: byteCount, chunkCount: chunkCount)
                let more = format.input(2 * count, byteCount: byteCount, chunkCount: chunkCount)
                // A record that lies in one chunk is not copied, so one twice as long has to lie in one as well; in
                // any other case it comes in twice as many chunks, which tells who looks at earlier ones again.
                let longer = format.input(
                    count,
                    byteCount: 2 * byteCount,
                    chunkCount: chunkCount == 1 ? 1 : 2 * chunkCount
                )
                inputs.append(
                    Input(
                        name: "\(name) in \(chunkCount) chunks",
                        once: { try await format.read(input, count) },
                        twice: [
                            { try await format.read(more, 2 * count) },
                            { try await format.read(longer, count) },
                        ]
                    )
                )
            }
        }
        guard let readNested = format.readNested else { return inputs }
        for depth in [1, 50, 500] {
            for chunkCount in [1, 8, 64] where chunkCount <= 2 * depth {
                let count = min(totalByteCount / 64 / depth, totalChunkCount / chunkCount)
                let chunkByteCount = max(1, 2 * depth / chunkCount)
                let input = format.nestedInput(count, depth: depth, chunkByteCount: chunkByteCount)
                let more = format.nestedInput(2 * count, depth: depth, chunkByteCount: chunkByteCount)
                inputs.append(
                    Input(
                        name: "\(depth) deep in \(chunkCount) chunks",
                        once: { try await readNested(input, count) },
                        twice: [{ try await readNested(more, 2 * count) }]
                    )
                )
            }
        }
        return inputs
    }

    /// The median of the rounds' ratios, of twice as much to once.
    ///
    /// Of one round, for the machine's speed changes from one to the next; and what looks short has forty rounds more.
    @concurrent
    private static func growth(of input: Input, rounds: Int) async throws -> Double {
        var ratios = input.twice.map { _ in [Double]() }
        var growth = 0.0
        for round in 1...rounds + 40 {
            let once = try await input.once()
            for (index, read) in input.twice.enumerated() { ratios[index].append(try await read() / once) }
            growth = ratios.map { $0.sorted()[$0.count / 2] }.max() ?? 0
            if round >= rounds, growth <= bound { break }
        }
        return growth
    }
}
