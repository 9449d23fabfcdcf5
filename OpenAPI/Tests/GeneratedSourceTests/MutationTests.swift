// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Foundation
import OpenAPIGeneration
import Testing

/// Tests with randomly damaged documents.
///
/// The generator generates code that can be parsed, or refuses the document, but never traps.
@Suite(.timeLimit(.minutes(10)))
struct MutationTests {
    @Test(arguments: ["GeneratedClientTests/constructs.yaml", "PetShopTests/petshop.yaml"])
    func damageIsRefusedOrGenerated(_ document: String) throws {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let whole = try String(contentsOf: tests.appending(path: document), encoding: .utf8)
        let lines = whole.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let words = [
            "null", "[]", "{}", "-1", "''", "object", "array", "$ref: '#/components/schemas/Pet'", "{ a: b }",
            "'*/ func evil() {} /*'", #""\"; evil(); \"""#, #""\nfunc evil() {}""#, #"'\(evil())'"#, "'`'", "class",
        ]
        // Most files are the same for most documents. Parsing is slower than generating.
        var parsed: Set<String> = []
        var generator = Numbers(state: 42)
        var refusedCount = 0
        for _ in 0..<200 {
            var damaged = lines
            for _ in 0...Int.random(in: 0...2, using: &generator) {
                let index = Int.random(in: 0..<damaged.count, using: &generator)
                switch Int.random(in: 0...3, using: &generator) {
                case 0: damaged.remove(at: index)
                case 1: damaged.insert(damaged[Int.random(in: 0..<damaged.count, using: &generator)], at: index)
                case 2:
                    let name = damaged[index].prefix { $0 != ":" }
                    damaged[index] = name + ": " + (words.randomElement(using: &generator) ?? "")
                default:
                    damaged[index] = damaged[index].replacing("type", with: "allOf", maxReplacements: 1)
                        .replacing("{", with: "[{", maxReplacements: 1)
                }
            }
            let data = Data(damaged.joined(separator: "\n").utf8)
            do {
                let files = try Generator(data, named: "a.yaml").generate().files
                for file in files where parsed.insert(file.text).inserted {
                    #expect(SourceShape.examine([file.text]).flaws == [], "\(file.name):\n\(file.text)")
                }
            } catch {
                refusedCount += 1
                #expect(!error.description.isEmpty)
            }
        }
        #expect(refusedCount > 20)
        #expect(refusedCount < 200)
        #expect(parsed.count > 40)
    }

    /// SplitMix64.
    private struct Numbers: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }
    }
}
