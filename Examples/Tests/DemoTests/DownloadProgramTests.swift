// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import DemoServer
import Foundation
import Testing

/// The program itself, interrupted and run again.
@Suite struct DownloadProgramTests {
    /// The program beside this test bundle's.
    private static let program = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
        .appending(path: "demo")

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: program.path)))
    func ctrlCLeavesAFileThatTheNextRunResumes() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "ApiConnector-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "archive")
        try await DemoServer.run { url in
            let command =
                "echo $$; exec '\(Self.program.path)' download --to '\(file.path)' --server '\(url)'"
                + " --pause 0 --hold \(5 << 20)"
            // Blocking reads are for threads of their own.
            let first = try await Self.offPool {
                let shell = try Shell(command)
                let process = try #require(shell.line().flatMap { pid_t($0) })
                while let line = shell.line() {
                    // The server holds the rest back, so that it cannot have ended.
                    if line.hasPrefix(" 6") { kill(process, SIGINT) }
                    if line.hasPrefix("Interrupted") { break }
                }
                return shell.end()
            }
            #expect(first == 130)
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
            #expect(names == [".archive.part", ".archive.part.json"])

            let (output, status) = try await Self.offPool {
                let shell = try Shell(command)
                let output = shell.rest()
                return (output, shell.end())
            }
            #expect(status == 0)
            #expect(
                output.hasSuffix("8388608 bytes are in \(file.path), from where the last run ended.\n"),
                "\(output)"
            )
            #expect(!output.contains(" 1"))
            #expect(try Data(contentsOf: file) == Archive.bytes(0..<Archive.byteCount))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["archive"])
        }
    }

    private static func offPool<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            Thread { continuation.resume(with: Result(catching: body)) }.start()
        }
    }
}

/// A program run by `/bin/sh`, through popen(3); its input is empty, its errors are dropped.
private struct Shell: ~Copyable {
    private let stream: UnsafeMutablePointer<FILE>

    init(_ command: String) throws {
        stream = try #require(popen("{ \(command)\n} </dev/null 2>/dev/null", "r"))
    }

    /// The next line of the output without its end; nil at the end of the output.
    func line() -> String? {
        var line: [UInt8] = []
        while case let byte = getc(stream), byte != EOF {
            if byte == 10 { return String(decoding: line, as: UTF8.self) }
            line.append(UInt8(truncatingIfNeeded: byte))
        }
        return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
    }

    /// The rest of the output.
    func rest() -> String {
        var text = ""
        while let line = line() { text += line + "\n" }
        return text
    }

    /// Waits for the end; the exit status.
    consuming func end() -> Int32 {
        (pclose(stream) >> 8) & 0xFF
    }
}
