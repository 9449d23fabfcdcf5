// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ArgumentParser

/// The command line: `goals`, `goals G1 G4`, `goals --quick`.
@main
struct GoalsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "goals",
        abstract: "Measures the performance goals against their rivals, in turn within one run.",
        discussion: "Prints one line for each goal. Exits with 1 if one is short.",
        subcommands: [RunCommand.self, ChildCommand.self],
        defaultSubcommand: RunCommand.self
    )
}

/// What a person calls.
struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "run", abstract: "Measure and report.")

    @Argument(help: "The goals, such as G1 G4; all of them by default.")
    var numbers: [String] = []

    @Flag(help: "Print JSON in place of lines.")
    var json = false

    @Flag(help: "Shorter runs, less exact; fails only on a ratio 25 % below its goal.")
    var quick = false

    @Option(name: .customLong("known-short"), help: "A goal that is known to be short and does not fail the run.")
    var knownShort: [String] = []

    @Option(help: "Write a bar chart of the ratios to this SVG file.")
    var chart: String?

    func run() async throws {
        let goals = try chosenGoals()
        let bench = Bench(isQuick: quick)
        defer { bench.end() }
        var outcomes: [Outcome] = []
        for goal in goals {
            if !json { Console.progress("\(goal.number) …") }
            let outcome: Outcome
            do {
                outcome = try await goal.measure(on: bench)
            } catch let error as MissingProgram {
                Console.error(error.description)
                throw ExitCode(2)
            }
            outcomes.append(outcome)
            if !json { Console.line(outcome.line) }
        }
        let machine = Machine.description
        if json {
            Console.line(try Report(machine: machine, isQuick: quick, outcomes: outcomes).json)
        } else {
            Console.line(machine)
        }
        if let chart { try Chart(outcomes: outcomes, footnote: machine).write(to: chart) }
        let judged = outcomes.filter { !knownShort.contains($0.goal) }
        if judged.contains(where: { quick ? $0.isFarOff : $0.isShort }) { throw ExitCode(1) }
    }

    private func chosenGoals() throws -> [any Goal] {
        try numbers.isEmpty
            ? allGoals
            : numbers.map { number in
                guard let goal = allGoals.first(where: { $0.number == number.uppercased() }) else {
                    throw ValidationError("there is no goal '\(number)'; the goals are G1 to G\(allGoals.count)")
                }
                return goal
            }
    }
}
