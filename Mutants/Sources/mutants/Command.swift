// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Foundation

/// Runs a program in a folder.
struct Command {
    struct Result {
        /// The exit status; 128 and the signal after a signal.
        let status: Int
        /// Whether the program was stopped because it took too long.
        let isLate: Bool
        let output: String
        let seconds: Double
    }

    private let arguments: [String]
    private let folder: URL
    private let environment: [String: String]

    init(_ arguments: String..., in folder: URL, environment: [String: String] = [:]) {
        self.init(arguments, in: folder, environment: environment)
    }

    init(_ arguments: [String], in folder: URL, environment: [String: String] = [:]) {
        self.arguments = arguments
        self.folder = folder
        self.environment = environment
    }

    /// Runs the program and waits for its end.
    ///
    /// - Parameters:
    ///   - limit: The longest run in seconds.
    ///   - marker: A text in the output that makes the rest of the run unnecessary. The program is then stopped, and
    ///     the output is the line with the text.
    func run(limit: Int? = nil, until marker: String? = nil) throws -> Result {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        // coreutils' timeout also ends the program's child processes.
        process.arguments = (limit.map { ["timeout", "--kill-after=5", "\($0)"] } ?? []) + arguments
        process.currentDirectoryURL = folder
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        process.standardInput = FileHandle.nullDevice
        let start = ContinuousClock.now
        try process.run()
        var output = Data()
        var found: Data?
        let (newline, wanted) = (Data("\n".utf8), marker.map { Data($0.utf8) })
        while case let chunk = pipe.fileHandleForReading.availableData, !chunk.isEmpty {
            guard found == nil else { continue }
            let checked = max(output.count - 1000, 0)
            output.append(chunk)
            if let wanted, let place = output.range(of: wanted, in: checked..<output.count) {
                let start = output.range(of: newline, options: .backwards, in: 0..<place.lowerBound)?.upperBound ?? 0
                let end = output.range(of: newline, in: place.upperBound..<output.count)?.lowerBound ?? output.count
                found = output.subdata(in: start..<end)
                process.terminate()
            }
        }
        process.waitUntilExit()
        let seconds = start.duration(to: .now) / .seconds(1)
        let status = Int(process.terminationStatus)
        return Result(
            status: process.terminationReason == .exit ? status : 128 + status,
            isLate: limit.map { seconds >= Double($0) } ?? false,
            output: String(decoding: found ?? output, as: UTF8.self),
            seconds: seconds
        )
    }
}
