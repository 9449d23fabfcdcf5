// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Mutants that go into one build, none within another.
public struct MutantSample: Sendable {
    /// In the order of the sample; a mutant's number is its index and 1.
    public private(set) var mutants: [Mutant] = []

    /// Takes a sample.
    ///
    /// - Parameters:
    ///   - candidates: All mutants.
    ///   - count: How many are taken at most.
    ///   - seed: The same candidates and the same seed make the same sample.
    public init(of candidates: [Mutant], count: Int, seed: UInt64) {
        var random = SplitMix64(state: seed)
        for mutant in candidates.shuffled(using: &random) where mutants.count < count {
            if !mutants.contains(where: { $0.file == mutant.file && $0.range.overlaps(mutant.range) }) {
                mutants.append(mutant)
            }
        }
    }

    /// Removes the mutants on a line that does not compile, or else the one before it.
    ///
    /// - Returns: How many were removed.
    public mutating func removeMutants(atError line: Int, in file: String) -> Int {
        let before = mutants.count
        mutants.removeAll { $0.file == file && ($0.line...$0.lastLine).contains(line) }
        if mutants.count == before {
            let previous = mutants.filter { $0.file == file && $0.line <= line }.max { $0.line < $1.line }
            let next = mutants.filter { $0.file == file }.min { $0.line < $1.line }
            guard let removed = previous ?? next else { return 0 }
            mutants.removeAll { $0 == removed }
        }
        return before - mutants.count
    }

    /// A file's text with its mutants, each behind its number.
    public func mutated(_ source: String, of file: String) -> String {
        var bytes = Array(source.utf8)
        let numbered = mutants.enumerated().filter { $0.element.file == file }
        for (index, mutant) in numbered.sorted(by: { $0.element.range.lowerBound > $1.element.range.lowerBound }) {
            bytes.replaceSubrange(mutant.range, with: Array(mutant.code(number: index + 1).utf8))
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The file that says which mutant is switched on; for the module of the mutants.
    public static let switchSource = """
        #if canImport(Glibc)
        import Glibc
        #else
        import Darwin
        #endif

        private let activeMutant = getenv("APICONNECTOR_MUTANT").flatMap { Int(String(cString: $0)) }

        @usableFromInline func isMutant(_ number: Int) -> Bool { activeMutant == number }

        """
}

/// A small generator with a seed (Steele, Lea and Flood, 2014).
private struct SplitMix64: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var bits = state
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }
}
