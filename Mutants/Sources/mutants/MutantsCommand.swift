// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ArgumentParser
import Foundation
import MutantMaking

@main
struct MutantsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mutants",
        abstract: "Makes mutants of a copy of the package, and prints those that no test notices.",
        discussion: "Scripts/mutants makes the copy and runs this."
    )

    @Argument(help: "The copy of the package. Its sources are changed.", transform: { URL(filePath: $0) })
    var copy: URL

    @Option(help: "How many mutants to make.")
    var count = 330

    @Option(help: "Selects other mutants.")
    var seed: UInt64 = 1

    @Option(help: "A file with one line for each equivalent mutant: its identity, two spaces, and the reason.")
    var equivalents: String?

    @Option(help: "How many mutants are tested at the same time.")
    var jobs = ProcessInfo.processInfo.activeProcessorCount

    @Argument(help: "The folders of Sources/ApiConnector to change.")
    var folders: [String]

    func run() throws {
        let package = MutatedPackage(folder: copy)
        let known = try equivalentMutants()
        let candidates = try folders.flatMap { try package.candidates(in: $0) }.filter { known[$0.identity] == nil }
        var sample = MutantSample(of: candidates, count: count, seed: seed)
        print("\(candidates.count) candidates, \(sample.mutants.count) in the sample with the seed \(seed)")
        try package.build(&sample)
        let results = try TestRuns(package: package, jobs: jobs).results(of: sample.mutants)
        report(results, equivalentCount: known.count)
    }

    private func equivalentMutants() throws -> [String: String] {
        guard let equivalents else { return [:] }
        let lines = try String(contentsOfFile: equivalents, encoding: .utf8).split(separator: "\n")
        return lines.filter { !$0.hasPrefix("#") }.reduce(into: [:]) { known, line in
            let parts = line.split(separator: "  ", maxSplits: 1)
            known[String(parts[0])] = parts.count > 1 ? String(parts[1]) : ""
        }
    }

    private func report(_ results: [(mutant: Mutant, isKilled: Bool)], equivalentCount: Int) {
        print("\nsurvivors:")
        for result in results.filter({ !$0.isKilled }).sorted(by: { $0.mutant.identity < $1.mutant.identity }) {
            print("\(result.mutant.identity)  # line \(result.mutant.line)")
        }
        print("\noperator     mutants  killed")
        for kind in Mutant.Operator.allCases {
            let own = results.filter { $0.mutant.kind == kind }
            print("\(kind)".padding(toLength: 12, withPad: " ", startingAt: 0), row(own))
        }
        print("all".padding(toLength: 12, withPad: " ", startingAt: 0), row(results))
        print("\(equivalentCount) mutants are listed as equivalent and left out")
    }

    private func row(_ results: [(mutant: Mutant, isKilled: Bool)]) -> String {
        let killed = results.count(where: \.isKilled)
        let share = results.isEmpty ? 100 : 100 * Double(killed) / Double(results.count)
        return String(format: "%7d  %6d  %5.1f %%", results.count, killed, share)
    }
}
