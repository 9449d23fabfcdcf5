// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Foundation
import MutantMaking
import Synchronization

/// Runs the tests of a mutant's folder, then those of its neighbors, with the mutant switched on.
struct TestRuns {
    typealias NumberedMutant = (number: Int, mutant: Mutant)

    let package: MutatedPackage
    let jobs: Int
    /// Whether to use the last run's times of the tests without a mutant.
    let keepsTimes: Bool

    /// Runs the tests for each mutant, and passes each result on immediately.
    func run(_ mutants: [NumberedMutant], onResult: @escaping @Sendable (MutantResult) -> Void) throws {
        let folders = Set(mutants.flatMap { testFolders(of: $0.mutant) })
        let found = Collected<(folders: String, suites: Result<[Suites], any Error>)>()
        concurrently(folders.sorted()) { folders in
            found.add((folders, Result { try self.suites(in: folders) }))
        }
        let suites = try found.all.reduce(into: [:]) { suites, found in
            suites[found.folders] = try found.suites.get()
        }
        let late = Collected<NumberedMutant>()
        concurrently(mutants) { [suites] mutant in
            let result = result(of: mutant, in: suites)
            if result.outcome == .timeout { late.add(mutant) } else { onResult(result) }
        }
        // Other runs may have delayed these.
        for mutant in late.all.sorted(by: { $0.number < $1.number }) { onResult(result(of: mutant, in: suites)) }
    }

    /// Calls a function for each item, on one thread per job, because Dispatch starts fewer threads on a busy machine.
    private func concurrently<Item: Sendable>(_ items: [Item], _ body: @escaping @Sendable (Item) -> Void) {
        let waiting = Collected(items.reversed())
        let group = DispatchGroup()
        for _ in 0..<jobs {
            group.enter()
            Thread.detachNewThread {
                while let item = waiting.takeLast() { body(item) }
                group.leave()
            }
        }
        group.wait()
    }

    private final class Collected<Item: Sendable>: Sendable {
        private let items: Mutex<[Item]>

        init(_ items: [Item] = []) {
            self.items = Mutex(items)
        }

        var all: [Item] { items.withLock { $0 } }

        func add(_ item: Item) { items.withLock { $0.append(item) } }

        func takeLast() -> Item? { items.withLock { $0.popLast() } }
    }

    /// Suites that run together.
    private struct Suites {
        let filter: String
        /// The longest run in seconds.
        let limit: Int
    }

    /// These take most of their folder's time, so they run only for a mutant that the other suites do not notice.
    private static let slowSuites: Set = ["ObservedSecretTests", "PlantedSecretTests"]

    /// Folders whose tests also exercise the code of a folder.
    ///
    /// They run only for a mutant that its own tests miss. Most lists begin with the folder itself, for the mutants whose
    /// own tests are those of a subfolder.
    private static let neighbors = [
        "Routes": "Request Connector",
        "Request": "Request Routes Redaction Connector Providers Timing Progress",
        "Response": "Streaming Connector",
        "Streaming": "Streaming Response Connector",
        "Providers": "Providers Connector Response Streaming Timing Traffic/RateAndConcurrencyLimits",
        "Redaction": "Errors Providers Response",
        "Errors": "Connector Request Response Redaction Providers/Retrying BadInput",
        "Traffic": "Traffic",
    ]

    private func result(of mutant: NumberedMutant, in suites: [String: [Suites]]) -> MutantResult {
        let identity = mutant.mutant.identity
        var result = MutantResult(identity: identity, outcome: .untested, detail: "there are no tests")
        for suite in testFolders(of: mutant.mutant).flatMap({ suites[$0] ?? [] }) {
            do {
                let run = try run(suite.filter, number: mutant.number, limit: suite.limit)
                result = MutantResult(identity: identity, status: run.status, isLate: run.isLate, output: run.output)
            } catch {
                result = MutantResult(identity: identity, outcome: .untested, detail: "\(error)")
            }
            if result.outcome != .survived { break }
        }
        return result
    }

    /// The folders of the tests, in the order in which they run.
    ///
    /// Each item is one or more folders whose tests run together: Traffic/Cache, then Traffic, for
    /// Traffic/Cache/CacheKey.swift.
    private func testFolders(of mutant: Mutant) -> [String] {
        let folders = mutant.file.split(separator: "/").dropLast().map(String.init)
        let paths = stride(from: folders.count, through: 1, by: -1).map { folders.prefix($0).joined(separator: "/") }
        let own = paths.first { path in
            let url = package.copy.appending(path: "Tests/ApiConnectorTests/\(path)")
            return FileManager.default.fileExists(atPath: url.path)
        }
        let neighbors = folders.first.flatMap { Self.neighbors[$0] } ?? ""
        let others = neighbors.split(separator: " ").map(String.init).filter { $0 != own }
        return [own ?? "", others.joined(separator: " ")].filter { !$0.isEmpty }
    }

    /// Lists the suites of folders.
    ///
    /// - Throws: ``MutantError`` if they fail without a mutant.
    private func suites(in folders: String) throws -> [Suites] {
        let arguments = folders.split(separator: " ").map(String.init)
        let list = try Command(["Scripts/try", "--list"] + arguments, in: package.copy).run()
        guard list.status == 0 else { throw MutantError(list.output) }
        let names = list.output.split(separator: "\n").map(String.init)
        let parts = [names.filter { !Self.slowSuites.contains($0) }, names.filter { Self.slowSuites.contains($0) }]
        return try parts.filter { !$0.isEmpty }.map { try timed($0, in: folders) }
    }

    private func timed(_ names: [String], in folders: String) throws -> Suites {
        let filter = "^[A-Za-z]+\\.(\(names.joined(separator: "|")))(/|$)"
        if keepsTimes, let time = try? String(contentsOf: timeFile(filter), encoding: .utf8), let limit = Int(time) {
            return Suites(filter: filter, limit: limit)
        }
        let run = try run(filter, number: 0, limit: 900)
        let result = MutantResult(identity: folders, status: run.status, isLate: run.isLate, output: run.output)
        guard result.outcome == .survived else {
            throw MutantError(
                "the tests of \(folders) fail without a mutant: \(result.detail)\n\(run.output.suffix(4000))"
            )
        }
        // The limit is generous, because tests take several times as long during a build.
        let limit = 30 + 8 * Int(run.seconds.rounded(.up))
        print("\(folders): the tests take \(Int(run.seconds.rounded(.up))) s, the limit with a mutant is \(limit) s")
        try "\(limit)".write(to: timeFile(filter), atomically: true, encoding: .utf8)
        return Suites(filter: filter, limit: limit)
    }

    /// The file that holds the limit of a filter, named after a hash of it (FNV-1a).
    private func timeFile(_ filter: String) -> URL {
        let hash = filter.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return package.copy.appending(path: ".build/limit-\(hash)")
    }

    private func run(_ filter: String, number: Int, limit: Int) throws -> Command.Result {
        let program = package.copy.appending(path: ".build/debug/ApiConnectorPackageTests.xctest")
        var isFolder: ObjCBool = false
        // On Linux the test bundle is a program, which starts several seconds faster than swift test.
        let isProgram =
            FileManager.default.fileExists(atPath: program.path, isDirectory: &isFolder) && !isFolder.boolValue
        let tests =
            isProgram
            ? [program.path, "--testing-library", "swift-testing"]
            : ["swift", "test", "--skip-build", "--ignore-lock", "--disable-xctest"]
        // A mutant may loop and allocate: 8 GB.
        let limited = ["sh", "-c", #"ulimit -v 8388608 2>/dev/null; exec "$@""#, "sh"]
        return try Command(
            limited + tests + ["--filter", filter],
            in: package.copy,
            environment: [
                "APICONNECTOR_MUTANT": "\(number)", "SWIFT_BACKTRACE": "enable=no", "NO_COLOR": "1",
                // Random tests find a mutant with the first cases or not at all; each run uses the same cases.
                "APICONNECTOR_CASES": "200", "APICONNECTOR_RANDOM_SEED": "1",
            ]
        ).run(limit: limit, until: MutantResult.issueMark)
    }
}
