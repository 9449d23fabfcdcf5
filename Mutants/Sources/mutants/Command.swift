// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Foundation

/// A program that runs in a folder.
struct Command {
    struct Result {
        /// The exit status; 128 and the signal after a signal.
        let status: Int
        /// Whether it was ended because it took too long.
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

    /// Runs it to its end.
    ///
    /// - Parameters:
    ///   - limit: The longest that it may run, in seconds.
    ///   - isEnough: Whether a line of the output makes the rest of the run superfluous. The program is then ended.
    func run(limit: Int? = nil, until isEnough: (Substring) -> Bool = { _ in false }) throws -> Result {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        // coreutils' timeout also ends the processes that the program has started.
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
        var checked = 0
        while case let chunk = pipe.fileHandleForReading.availableData, !chunk.isEmpty {
            output += chunk
            guard let end = output.lastIndex(of: UInt8(ascii: "\n")), end >= checked else { continue }
            let lines = String(decoding: output[checked...end], as: UTF8.self)
            checked = end + 1
            if lines.split(separator: "\n").contains(where: isEnough) { process.terminate() }
        }
        process.waitUntilExit()
        let seconds = start.duration(to: .now) / .seconds(1)
        let status = Int(process.terminationStatus)
        return Result(
            status: process.terminationReason == .exit ? status : 128 + status,
            isLate: limit.map { seconds >= Double($0) } ?? false,
            output: String(decoding: output, as: UTF8.self),
            seconds: seconds
        )
    }
}
