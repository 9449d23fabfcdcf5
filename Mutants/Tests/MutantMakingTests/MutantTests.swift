// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import MutantMaking
import Testing

@Suite struct MutantTests {
    private static func identities(_ source: String) -> [String] {
        Mutant.all(in: source, of: "A.swift").map { String($0.identity.dropFirst("A.swift: ".count)) }
    }

    @Test(arguments: [
        ("let a = b < c", ["b < c → b <= c"]),
        ("let a = b && !c", ["b && !c → b || !c", "!c → c"]),
        ("let a = b + 1", ["b + 1 → b - 1", "1 → 1 + 1"]),
        ("let a = b + c", []),
        ("let a = true", ["true → false"]),
        ("func f() { if isOpen { return } }", ["isOpen → !(isOpen)"]),
        ("func f() { close(); open() }", ["close() → (removed)", "open() → (removed)"]),
        ("func f() -> Int { size() }", []),
        ("func f() { a = b }", ["a = b → (removed)"]),
        ("enum E: Int { case a = 1 }", []),
        ("func f() { switch a { case 1: break; default: break } }", []),
        ("@available(macOS 15, *) func f() {}", []),
    ])
    func areFoundWhereATestCouldNoticeThem(_ source: String, _ identities: [String]) {
        #expect(Self.identities(source) == identities)
    }

    @Test func theMutatedFileHasTheLinesOfTheOriginal() {
        let source = """
            func f(a: Int) -> Bool {
                // é
                note(
                    a
                )
                return a > 3
            }
            """
        let sample = MutantSample(of: Mutant.all(in: source, of: "A.swift"), count: 10, seed: 1)
        let mutated = sample.mutated(source, of: "A.swift")
        #expect(mutated.split(separator: "\n").count == source.split(separator: "\n").count)
        #expect(mutated.contains("if !isMutant("))
        #expect(mutated.contains("? (a >= 3) : (a > 3))") || mutated.contains("a > (isMutant("))
        #expect(sample.mutated(source, of: "B.swift") == source)
    }

    @Test func aSampleIsTheSameForTheSameSeedAndOverlapsNowhere() {
        let source = (0..<50).map { "let a\($0) = b && c\($0) < \($0) + 1" }.joined(separator: "\n")
        let candidates = Mutant.all(in: source, of: "A.swift")
        let (one, two) = (1...2).map { MutantSample(of: candidates, count: 20, seed: UInt64($0)) }.splitInTwo
        #expect(one.mutants == MutantSample(of: candidates, count: 20, seed: 1).mutants)
        #expect(one.mutants != two.mutants)
        #expect(one.mutants.count == 20)
        for (index, mutant) in one.mutants.enumerated() {
            #expect(!one.mutants[(index + 1)...].contains { $0.range.overlaps(mutant.range) })
        }
    }

    @Test func anErrorRemovesTheMutantsOfItsLineOrTheOneBefore() {
        let source = "let a = b < c\n\n\nlet d = e < f"
        var sample = MutantSample(of: Mutant.all(in: source, of: "A.swift"), count: 10, seed: 1)
        #expect(sample.removeMutants(atError: 3, in: "A.swift") == 1)
        #expect(sample.mutants.map(\.line) == [4])
        #expect(sample.removeMutants(atError: 4, in: "B.swift") == 0)
        #expect(sample.removeMutants(atError: 4, in: "A.swift") == 1)
        #expect(sample.mutants == [])
    }
}

extension [MutantSample] {
    fileprivate var splitInTwo: (MutantSample, MutantSample) { (self[0], self[1]) }
}
