// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ArgumentParser
import Foundation
import MutantMaking
import Synchronization

@main
struct MutantsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mutants",
        abstract: "Makes mutants in a copy of the package, and prints the mutants that no test notices.",
        discussion: "Scripts/mutants makes the copy and runs this command."
    )

    @Argument(help: "The package.", transform: { URL(filePath: $0) })
    var original: URL

    @Argument(help: "The copy of the package, whose sources are replaced.", transform: { URL(filePath: $0) })
    var copy: URL

    @Option(help: "The number of mutants to make.")
    var count = 315

    @Option(help: "The seed of the selection; another seed selects other mutants.")
    var seed: UInt64 = 1

    @Option(help: "A file with the list of equivalent mutants.")
    var equivalents: String?

    @Option(help: "The number of mutants to test at the same time.")
    var jobs = ProcessInfo.processInfo.activeProcessorCount

    @Flag(help: "Keeps the killed mutants of the last run, and tests only the others.")
    var resume = false

    @Argument(help: "The folders of Sources/ApiConnector to change; Traffic is Sources/ApiConnectorTraffic.")
    var folders: [String]

    func run() throws {
        let package = MutatedPackage(original: original, copy: copy)
        let known = try EquivalentMutants(equivalents.map { try String(contentsOfFile: $0, encoding: .utf8) } ?? "")
        let all = try folders.flatMap { try package.candidates(in: $0) }
        try checkThatAllAreFound(known, in: all)
        let file = try ResultsFile(copy.appending(path: "results.jsonl"), isKept: resume)
        let candidates = all.filter {
            !known.identities.contains($0.identity) && file.present[$0.identity]?.outcome != .uncompiled
        }
        print("\(all.count) candidates, the seed is \(seed)")
        let sample = try package.build(candidates) {
            MutantSample(of: $0, count: count, seed: seed)
        } onError: { mutants in
            for mutant in mutants {
                try file.append(MutantResult(identity: mutant.identity, outcome: .uncompiled))
            }
        }
        let kept = file.present.filter { $0.value.outcome.isKill }
        let untested = sample.mutants.filter { kept[$0.mutant.identity] == nil }
        print("\(sample.mutants.count) mutants compile, \(untested.count) remain to be tested")
        let results = Collected(kept)
        try TestRuns(package: package, jobs: jobs, keepsTimes: resume).run(untested) { result in
            let count = results.add(result, to: file)
            print("\(count) \(result.outcome): \(result.identity)")
            if !result.detail.isEmpty { print("    \(result.detail)") }
            // Also writes each result to a file immediately.
            fflush(nil)
        }
        let found = results.all
        try report(sample.mutants.map { ($0.mutant, found[$0.mutant.identity]?.outcome ?? .untested) }, known)
    }

    private final class Collected: Sendable {
        private let results: Mutex<[String: MutantResult]>

        init(_ results: [String: MutantResult]) {
            self.results = Mutex(results)
        }

        var all: [String: MutantResult] { results.withLock { $0 } }

        /// - Returns: Their number.
        func add(_ result: MutantResult, to file: ResultsFile) -> Int {
            results.withLock { results in
                results[result.identity] = result
                do { try file.append(result) } catch { print("\(error)") }
                return results.count
            }
        }
    }

    private func checkThatAllAreFound(_ known: EquivalentMutants, in candidates: [Mutant]) throws {
        let identities = Set(candidates.map(\.identity))
        for identity in known.identities.sorted()
        where !identities.contains(identity) && folders.contains(where: { identity.hasPrefix("\($0)/") }) {
            throw MutantError("an equivalent mutant is not in the sources:\n\(identity)")
        }
    }

    private func report(_ results: [(mutant: Mutant, outcome: MutantResult.Outcome)], _ known: EquivalentMutants) throws
    {
        print("\nsurvivors:")
        for result in results.filter({ $0.outcome == .survived }).sorted(by: { $0.mutant.identity < $1.mutant.identity }
        ) {
            print("\n# line \(result.mutant.line)\n\(result.mutant.identity)")
        }
        let columns: [MutantResult.Outcome] = [.assertion, .crash, .timeout, .survived, .untested]
        print("\n\(cell("operator"))\(columns.map { cell("\($0)") }.joined())  killed")
        func row(_ name: String, _ own: [MutantResult.Outcome]) {
            let tested = own.count { $0 != .untested }
            let share = tested == 0 ? 100 : 100 * Double(own.count(where: \.isKill)) / Double(tested)
            let counts = columns.map { column in cell("\(own.count { $0 == column })") }.joined()
            print("\(cell(name))\(counts)  \(String(format: "%.1f", share)) %")
        }
        for kind in Mutant.Operator.allCases {
            row("\(kind)", results.filter { $0.mutant.kind == kind }.map(\.outcome))
        }
        row("all", results.map(\.outcome))
        print("\(known.identities.count) mutants are listed as equivalent and omitted")
        let untested = results.filter { $0.outcome == .untested }
        guard untested.isEmpty else {
            throw MutantError("not tested:\n" + untested.map(\.mutant.identity).joined(separator: "\n"))
        }
    }

    private func cell(_ text: String) -> String { text.padding(toLength: 12, withPad: " ", startingAt: 0) }
}
