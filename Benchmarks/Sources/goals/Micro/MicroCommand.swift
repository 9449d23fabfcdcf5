// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ArgumentParser
import MicroCases

/// `goals micro`: measures the parts of a call as multiples of the same work by hand, and compares the ratios with a
/// table of bounds.
struct MicroCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "micro",
        abstract: "Measures the parts of a call, each against the same work by hand.",
        discussion: "Exits with status 1 if a part is over its bound."
    )

    @Option(help: "The table of bounds.")
    var bounds: String?

    @Option(help: "Write a table of bounds: 1.5 times the measured ratios.")
    var write: String?

    func run() async throws {
        let bounds = try bounds.map { try Bounds(parsing: String(contentsOfFile: $0, encoding: .utf8)) }
        var ratios = try await Self.ratios(of: MicroCase.all)
        // A burst of other processes can look like a slow parser, but not three times in a row.
        for _ in 0..<2 {
            let suspects = Set(ratios.filter { bounds?.isOver($0) == true }.map(\.name))
            if suspects.isEmpty { break }
            for ratio in try await Self.ratios(of: MicroCase.all.filter({ suspects.contains($0.name) })) {
                guard let place = ratios.firstIndex(where: { $0.name == ratio.name }) else { continue }
                ratios[place].value = min(ratios[place].value, ratio.value)
            }
        }
        for ratio in ratios { Console.line(ratio.text) }
        if let write { try Bounds.table(of: ratios, room: 1.5).write(toFile: write, atomically: true, encoding: .utf8) }
        let problems = bounds?.problems(of: ratios) ?? []
        for problem in problems { Console.error("over: \(problem)") }
        if !problems.isEmpty { throw ExitCode(1) }
    }

    private static let turn = 0.02
    private static let rounds = 7

    /// Measures each case by turns with its reference and with the cases that share the reference.
    @concurrent
    private static func ratios(of cases: [MicroCase]) async throws -> [MicroRatio] {
        var ratios: [MicroRatio] = []
        var rest = cases[...]
        while let reference = rest.first?.reference {
            let group = rest.prefix { $0.reference.name == reference.name }
            rest = rest.dropFirst(group.count)
            Console.progress("\(reference.name) …")
            var contest = Contest()
            for (name, pass) in [("", reference.pass)] + group.map({ ($0.name, $0.pass) }) {
                let count = max(1, Int(turn / (try await seconds(of: 1, pass))))
                contest.add(name) { try await seconds(of: count, pass) / Double(count) }
            }
            let samples = try await contest.run(rounds: rounds)
            ratios += group.map { each in
                MicroRatio(name: each.name, reference: reference.name, value: samples.ratio(each.name, to: ""))
            }
        }
        return ratios
    }

    @concurrent
    private static func seconds(of count: Int, _ pass: @Sendable () async throws -> Void) async throws -> Double {
        let start = ProcessorTime.now
        for _ in 0..<count { try await pass() }
        return ProcessorTime.now - start
    }
}
