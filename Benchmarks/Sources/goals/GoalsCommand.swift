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
        abstract: "Measures the performance goals against their rivals within one run.",
        discussion: "Prints one line per goal. Exits with status 1 if a goal is short.",
        subcommands: [RunCommand.self, MicroCommand.self, PictureCommand.self, ChildCommand.self],
        defaultSubcommand: RunCommand.self
    )
}

/// The default subcommand.
struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "run", abstract: "Measure and report.")

    @Argument(help: "The goals, such as G1 G4; by default all goals.")
    var numbers: [String] = []

    @Flag(help: "Print JSON instead of lines.")
    var json = false

    @Flag(help: "Measure in shorter, less exact runs; fail only if a ratio is 25 % below its goal.")
    var quick = false

    @Option(
        name: .customLong("known-short"),
        help: ArgumentHelp(
            "A check that is known to be short, and its worst allowed value.",
            valueName: "G3 on top of the decoding: 9.5"
        )
    )
    var knownShort: [KnownShort] = []

    func validate() throws {
        for known in knownShort where !allGoals.contains(where: { $0.number == known.goal }) {
            throw ValidationError("there is no goal '\(known.goal)' for --known-short")
        }
    }

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
        let judgment = Judgment(of: outcomes, knownShort: knownShort, isQuick: quick)
        for note in judgment.notes { Console.error("note: \(note)") }
        for failure in judgment.failures { Console.error("short: \(failure)") }
        if !judgment.failures.isEmpty { throw ExitCode(1) }
    }

    private func chosenGoals() throws -> [any Goal] {
        try numbers.isEmpty
            ? allGoals
            : numbers.map { number in
                guard let goal = allGoals.first(where: { $0.number == number.uppercased() }) else {
                    let numbers = allGoals.map(\.number).joined(separator: ", ")
                    throw ValidationError("there is no goal '\(number)'; the goals are \(numbers)")
                }
                return goal
            }
    }
}
