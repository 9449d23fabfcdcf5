// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Foundation

/// A program that runs in a folder.
struct Command {
    struct Result {
        let isSuccess: Bool
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
    /// - Parameter limit: The longest that it may run, in seconds; past it, it is killed and has failed.
    func run(limit: Int? = nil) throws -> Result {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        // coreutils' timeout. On an interrupt SwiftPM ends the tests, which are in a process group of their own.
        process.arguments =
            (limit.map { ["timeout", "--signal=INT", "--kill-after=10", "\($0)"] } ?? []) + arguments
        process.currentDirectoryURL = folder
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        process.standardInput = FileHandle.nullDevice
        let start = ContinuousClock.now
        try process.run()
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return Result(
            isSuccess: process.terminationReason == .exit && process.terminationStatus == 0,
            output: String(decoding: output, as: UTF8.self),
            seconds: start.duration(to: .now) / .seconds(1)
        )
    }
}
