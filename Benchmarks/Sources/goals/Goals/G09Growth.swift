// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import MicroCases

/// Doubles the input of every parser: once with twice as many records, once with records of twice the length.
///
/// Records have up to 10 MB, are in 1 to 64 chunks each, and are nested up to 500 levels deep.
struct G09Growth: Goal {
    let number = "G9"
    let title = "twice the input, records of 10 B to 10 MB in 1 to 64 chunks, nested 1 to 500 deep"
    private static let bound = 2.2
    /// The lengths of the records that are doubled.
    ///
    /// malloc gets each block of more than 32 MB from the system, and fresh pages take longer than anything else. With
    /// records of 20 MB, the benchmark would measure these pages.
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

    /// An input, and the doubled input.
    private struct Input {
        let name: String
        let once: @Sendable () async throws -> Double
        let twice: [@Sendable () async throws -> Double]
    }

    private static func inputs(of format: GrowingFormat, isQuick: Bool) -> [Input] {
        let (totalByteCount, totalChunkCount) = isQuick ? (1 << 18, 2_000) : (4 << 20, 16_000)
        var inputs: [Input] = []
        // A quick run omits inputs that do not fit into the processor's caches, because on a busy machine other
        // processes also use the caches.
        for (name, byteCount) in sizes where !isQuick || byteCount <= 1 << 20 {
            let isLarge = byteCount >= 1 << 20
            for chunkCount in isQuick && isLarge ? [64] : [1, 8, 64] where chunkCount <= byteCount {
                let count = max(1, min(totalByteCount / byteCount, totalChunkCount / chunkCount))
                let input = format.input(count, byteCount: byteCount, chunkCount: chunkCount)
                let more = format.input(2 * count, byteCount: byteCount, chunkCount: chunkCount)
                // A record in one chunk is not copied, so the record of twice the length must also be in one chunk.
                // Otherwise the record has twice as many chunks, which reveals parsers that read earlier chunks again.
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

    /// The median of the rounds' ratios of the doubled input to the input.
    ///
    /// Each ratio is from one round, because the machine's speed changes between rounds. If the median misses the goal,
    /// up to forty more rounds are measured.
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
