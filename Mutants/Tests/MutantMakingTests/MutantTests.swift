// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import MutantMaking
import Testing

struct MutantTests {
    private static func changes(_ source: String) -> [String] {
        Mutant.all(in: source, of: "A.swift").map(\.change)
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
    func areFoundWhereATestCouldNoticeThem(_ source: String, _ changes: [String]) {
        #expect(Self.changes(source) == changes)
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

    @Test func aMutantIsIdentifiedByItsLineItsChangeAndItsOccurrence() {
        let source = """
            func f() {
                if a < b, a < b { return }
            }
            func g() {
                if a < b, c { return }
            }
            """
        let line = "A.swift: if a < b, a < b { return }\n    a < b → a <= b"
        let identities = Mutant.all(in: source, of: "A.swift").map(\.identity)
        #expect(
            identities == [
                line, "\(line) #2", "A.swift: if a < b, c { return }\n    a < b → a <= b",
                "A.swift: if a < b, c { return }\n    c → !(c)",
            ]
        )
        #expect(Mutant.all(in: "\n\n\(source)", of: "A.swift").map(\.identity) == identities)
    }

    @Test func aSampleIsTheSameForTheSameSeedAndOverlapsNowhere() {
        let source = (0..<50).map { "let a\($0) = b && c\($0) < \($0) + 1" }.joined(separator: "\n")
        let candidates = Mutant.all(in: source, of: "A.swift")
        let one = MutantSample(of: candidates, count: 20, seed: 1).mutants.map(\.mutant)
        #expect(one == MutantSample(of: candidates.reversed(), count: 20, seed: 1).mutants.map(\.mutant))
        #expect(one != MutantSample(of: candidates, count: 20, seed: 2).mutants.map(\.mutant))
        #expect(one.count == 20)
        for (index, mutant) in one.enumerated() {
            #expect(!one[(index + 1)...].contains { $0.range.overlaps(mutant.range) })
        }
    }

    @Test func mostOfASampleStaysWhenACandidateLeaves() throws {
        let source = (0..<50).map { "let a\($0) = b\($0) < c" }.joined(separator: "\n")
        let candidates = Mutant.all(in: source, of: "A.swift")
        let before = MutantSample(of: candidates, count: 20, seed: 1).mutants.map(\.mutant)
        let left = try #require(before.first)
        let after = MutantSample(of: candidates.filter { $0 != left }, count: 20, seed: 1).mutants.map(\.mutant)
        #expect(after.prefix(19) == before.dropFirst())
    }

    @Test func anErrorRemovesTheMutantsOfItsLineOrTheOneBefore() {
        let source = "let a = b < c\n\n\nlet d = e < f"
        var sample = MutantSample(of: Mutant.all(in: source, of: "A.swift"), count: 10, seed: 1)
        let numbers = sample.mutants.filter { $0.mutant.line == 4 }.map(\.number)
        #expect(sample.removeMutants(atError: 3, in: "A.swift").map(\.line) == [1])
        #expect(sample.mutants.map(\.mutant.line) == [4])
        #expect(sample.mutants.map(\.number) == numbers)
        #expect(sample.removeMutants(atError: 4, in: "B.swift") == [])
        #expect(sample.removeMutants(atError: 4, in: "A.swift").map(\.line) == [4])
        #expect(sample.mutants.isEmpty)
    }

    @Test func theListOfEquivalentsNeedsReasonsAndNoEntryTwice() throws {
        let entry = "A.swift: if a < b { return }\n    a < b → a <= b\n"
        #expect(try EquivalentMutants("# Words.\n\n\(entry)    They are never equal.\n").identities.count == 1)
        #expect(throws: MutantError.self) { try EquivalentMutants(entry) }
        #expect(throws: MutantError.self) { try EquivalentMutants("\(entry)    A.\n\n\(entry)    B.\n") }
    }

    @Test(arguments: [
        (1, false, "✘ Test a() recorded an issue at A.swift:3:4: no", MutantResult.Outcome.assertion),
        (139, false, "A.swift:3: Fatal error: Index out of range", .crash),
        (124, true, "◇ Test a() started.", .timeout),
        (124, true, "✘ Test a() recorded an issue at A.swift:3:4: no", .assertion),
        (143, false, "✘ Test a() recorded an issue at A.swift:3:4: Time limit was exceeded: 60.000 seconds", .timeout),
        (0, false, "✔ Test run with 7 tests in 2 suites passed after 2.7 seconds.", .survived),
        (0, false, "", .untested),
        (127, false, "sh: not found", .untested),
    ])
    func theCauseOfAKillIsRead(_ status: Int, _ isLate: Bool, _ output: String, _ outcome: MutantResult.Outcome) {
        let result = MutantResult(identity: "A", status: status, isLate: isLate, output: output)
        #expect(result.outcome == outcome)
    }
}
