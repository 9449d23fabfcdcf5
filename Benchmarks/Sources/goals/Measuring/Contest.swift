// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// Measures contenders in turn, A B C A B C …, so that a shared machine affects all of them equally.
struct Contest {
    struct Contender {
        let name: String
        let measure: () async throws -> Double
    }

    private var contenders: [Contender] = []

    /// Adds a contender.
    ///
    /// `measure` takes one turn, and returns the result.
    mutating func add(_ name: String, _ measure: @escaping () async throws -> Double) {
        contenders.append(Contender(name: name, measure: measure))
    }

    /// Runs all turns.
    ///
    /// The first turn of each contender does not count.
    @concurrent
    func run(rounds: Int) async throws -> Samples {
        var samples: [String: [Double]] = [:]
        for round in 0...rounds {
            for contender in contenders {
                let figure = try await contender.measure()
                if round > 0 { samples[contender.name, default: []].append(figure) }
            }
        }
        return Samples(byName: samples)
    }
}

/// The results of a contest.
struct Samples: Codable, Sendable {
    let byName: [String: [Double]]

    /// The median of a contender's turns.
    func median(_ name: String) -> Double {
        (byName[name] ?? []).median
    }

    /// The median of the ratios of two contenders, round by round.
    func ratio(_ name: String, to other: String) -> Double {
        zip(byName[name] ?? [], byName[other] ?? []).map { $0 / $1 }.median
    }

    /// The median of the differences, round by round.
    func difference(_ name: String, from other: String) -> Double {
        zip(byName[name] ?? [], byName[other] ?? []).map { $0 - $1 }.median
    }
}

extension [Double] {
    /// The middle value, or the mean of the two middle values; 0 without values.
    var median: Double {
        let sorted = sorted()
        guard let last = sorted.last else { return 0 }
        let middle = sorted.count / 2
        return sorted.count % 2 == 1
            ? sorted[middle] : (sorted[middle - 1] + (sorted.count > 1 ? sorted[middle] : last)) / 2
    }
}
