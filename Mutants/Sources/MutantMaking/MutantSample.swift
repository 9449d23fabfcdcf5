// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Mutants for one build that do not overlap.
public struct MutantSample: Sendable {
    /// The mutants with their numbers, in the order of the sample.
    ///
    /// A mutant's number is its rank, so that it does not change when another mutant is removed or listed.
    public private(set) var mutants: [(number: Int, mutant: Mutant)] = []

    /// Takes a sample.
    ///
    /// The seed and a mutant's identity decide its rank, so most of the sample stays the same after an edit.
    ///
    /// - Parameters:
    ///   - candidates: All mutants.
    ///   - count: The maximum number of mutants.
    ///   - seed: The seed; the same candidates and seed give the same sample.
    public init(of candidates: [Mutant], count: Int, seed: UInt64) {
        let ranked = candidates.map { (rank: Self.rank(of: $0.identity, seed: seed), mutant: $0) }
        for (rank, mutant) in ranked.sorted(by: { ($0.rank, $0.mutant.identity) < ($1.rank, $1.mutant.identity) })
        where mutants.count < count {
            if !mutants.contains(where: { $0.mutant.file == mutant.file && $0.mutant.range.overlaps(mutant.range) }) {
                mutants.append((rank, mutant))
            }
        }
    }

    /// FNV-1a of the text, mixed with the seed (SplitMix64).
    private static func rank(of text: String, seed: UInt64) -> Int {
        let hash = text.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        var bits = hash &+ seed &* 0x9E37_79B9_7F4A_7C15
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        // Positive: no mutant has the number 0.
        return Int((bits ^ (bits >> 31)) >> 1) | 1
    }

    /// Removes the mutants on a line that does not compile, otherwise the mutant before the line.
    ///
    /// - Returns: The removed mutants.
    public mutating func removeMutants(atError line: Int, in file: String) -> [Mutant] {
        let inFile = mutants.map(\.mutant).filter { $0.file == file }
        var removed = inFile.filter { ($0.line...$0.lastLine).contains(line) }
        if removed.isEmpty {
            let previous = inFile.filter { $0.line <= line }.max { $0.line < $1.line }
            let next = inFile.min { $0.line < $1.line }
            removed = [previous ?? next].compactMap(\.self)
        }
        mutants.removeAll { removed.contains($0.mutant) }
        return removed
    }

    /// A file's text with its mutants, each enabled by its number.
    public func mutated(_ source: String, of file: String) -> String {
        var bytes = Array(source.utf8)
        let inFile = mutants.filter { $0.mutant.file == file }
        for (number, mutant) in inFile.sorted(by: { $0.mutant.range.lowerBound > $1.mutant.range.lowerBound }) {
            bytes.replaceSubrange(mutant.range, with: Array(mutant.code(number: number).utf8))
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The source file that selects the mutant, for the module of the mutants.
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
