// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import DemoServer
import Foundation
import Testing
import Walkthrough

/// Tests of the demo program, which is interrupted and run again.
struct DownloadProgramTests {
    @Test(.enabled(if: DemoProgram.isBuilt))
    func ctrlCLeavesAFileThatTheNextRunResumes() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "ApiConnector-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "archive")
        try await DemoServer.run { url in
            let command =
                "echo $$; exec '\(DemoProgram.url.path)' download --to '\(file.path)' --server '\(url)'"
                + " --pause 0 --hold \(5 << 20)"
            let first = try LaunchedProgram("/bin/sh", arguments: ["-c", command])
            let process = try #require(await first.nextLine().flatMap { pid_t($0) })
            while let line = await first.nextLine() {
                // The server holds the rest of the body back, so the download cannot have ended.
                if line.hasPrefix(" 6") { kill(process, SIGINT) }
                if line.hasPrefix("Interrupted") { break }
            }
            #expect(await first.end() == 130)
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
            #expect(names == [".archive.part", ".archive.part.json"])

            let second = try LaunchedProgram("/bin/sh", arguments: ["-c", command])
            let output = await second.rest().joined(separator: "\n")
            #expect(await second.end() == 0)
            #expect(
                output.hasSuffix("8388608 bytes are in \(file.path), resumed from the last run."),
                "\(output)"
            )
            #expect(!output.contains(" 1"))
            #expect(try Data(contentsOf: file) == Archive.bytes(0..<Archive.byteCount))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["archive"])
        }
    }
}
