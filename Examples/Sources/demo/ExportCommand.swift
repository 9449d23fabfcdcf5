// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ArgumentParser
import Backends
import Foundation
import Walkthrough

/// `demo export`.
struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Read 100,000 rows as they arrive: JSON Lines, then the elements of one JSON array."
    )

    @Option(help: "The number of rows.")
    var rows = 100_000

    @OptionGroup var server: ServerOptions

    func run() async throws {
        try await server.use { location in
            let exports = Exports(.exports(on: location), over: SystemProvider())
            let start = ContinuousClock.now
            let sums = try await exports.sums(of: rows, telling: .standardOutput)
            let seconds = ((ContinuousClock.now - start) / .seconds(1)).formatted(.number.precision(.fractionLength(2)))
            for (format, sum) in sums.sorted(by: { $0.key > $1.key }) {
                print("\(format): the amounts add up to \(sum)")
            }
            print("Each row was read, decoded and released, in \(seconds) s.")
            if Set(sums.values).count != 1 { throw ExitCode.failure }
        }
    }
}

extension ProgressLine {
    /// A bar if standard output is a terminal that can draw it.
    static var standardOutput: ProgressLine {
        let isTerminal = isatty(STDOUT_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"
        return ProgressLine(isTerminal: isTerminal) { text in
            FileHandle.standardOutput.write(Data(text.utf8))
        }
    }
}
