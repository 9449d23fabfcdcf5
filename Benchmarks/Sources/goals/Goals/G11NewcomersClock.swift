// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The time that a newcomer waits: for a clean debug build of both products and for the root's tests, in a fresh clone.
struct G11NewcomersClock: Goal {
    let number = "G11"
    let title = "a newcomer's clock"

    func measure(on bench: Bench) async throws -> Outcome {
        var outcome = Outcome(goal: number, title: title)
        if bench.isQuick { return outcome }
        let folder = FileManager.default.temporaryDirectory.appending(path: "apiconnector-clone-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let root = try Program.output(of: "git -C \(Program.quoted(Self.folderOfThisFile)) rev-parse --show-toplevel")
        try Program.output(of: "git clone --quiet \(Program.quoted(root)) \(Program.quoted(folder.path))")
        let enter = "cd \(Program.quoted(folder.path))"
        let build = try seconds("\(enter) && swift build 2>&1")
        let testBuild = try seconds("\(enter) && swift build --build-tests 2>&1")
        let test = try seconds("\(enter) && swift test --skip-build 2>&1")
        outcome.add(Figure("building the tests as well", testBuild, .seconds))
        outcome.add(
            Check("a clean debug build of both products", build, atMost: 25, .seconds),
            Check("the root's tests", test, atMost: 60, .seconds)
        )
        return outcome
    }

    private static var folderOfThisFile: String {
        URL(filePath: #filePath).deletingLastPathComponent().path
    }

    private func seconds(_ command: String) throws -> Double {
        let clock = ContinuousClock()
        let start = clock.now
        try Program.output(of: command)
        return (clock.now - start).seconds
    }
}
