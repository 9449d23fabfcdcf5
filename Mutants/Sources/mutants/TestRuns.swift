// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Foundation
import MutantMaking
import Synchronization

/// Runs the tests of a mutant's folder with the mutant switched on.
struct TestRuns {
    let package: MutatedPackage
    let jobs: Int

    /// Whether each mutant was killed, in the order of their numbers.
    func results(of mutants: [Mutant]) throws -> [(mutant: Mutant, isKilled: Bool)] {
        let suites = try Set(mutants.map { testFolder(of: $0) }).reduce(into: [:]) { suites, folder in
            suites[folder] = try self.suites(in: folder)
        }
        let next = Mutex(0)
        let killed = Mutex([Int: Bool]())
        let failure = Mutex<(any Error)?>(nil)
        DispatchQueue.concurrentPerform(iterations: jobs) { _ in
            while let index = next.withLock({ next in
                defer { next += 1 }
                return next < mutants.count ? next : nil
            }) {
                let mutant = mutants[index]
                guard let suite = suites[testFolder(of: mutant)] else { continue }
                do {
                    let result = try run(suite.filter, number: index + 1, limit: suite.limit)
                    killed.withLock { $0[index] = !result.isSuccess }
                    let word = result.isSuccess ? "SURVIVED" : "killed"
                    print("\(index + 1)/\(mutants.count) \(word): \(mutant.identity)")
                } catch {
                    failure.withLock { $0 = error }
                }
            }
        }
        if let failure = failure.withLock({ $0 }) { throw failure }
        let results = killed.withLock { $0 }
        return mutants.enumerated().map { ($1, results[$0] == true) }
    }

    private struct Suites {
        let filter: String
        /// The longest run, in seconds.
        let limit: Int
    }

    /// The folder of the tests: Providers/Caching for Providers/Caching/CacheKey.swift.
    private func testFolder(of mutant: Mutant) -> String {
        let folders = mutant.file.split(separator: "/").dropLast().map(String.init)
        for count in stride(from: folders.count, through: 1, by: -1) {
            let folder = folders.prefix(count).joined(separator: "/")
            let path = package.folder.appending(path: "Tests/ApiConnectorTests/\(folder)").path
            if FileManager.default.fileExists(atPath: path) { return folder }
        }
        // The errors' texts are tested where each error arises.
        return "BadInput"
    }

    /// Lists the suites of a folder.
    ///
    /// - Throws: ``Failure`` if they fail without a mutant.
    private func suites(in folder: String) throws -> Suites {
        let list = try Command("Scripts/try", "--list", folder, in: package.folder).run()
        guard list.isSuccess else { throw Failure(list.output) }
        let names = list.output.split(separator: "\n").joined(separator: "|")
        let filter = "^[A-Za-z]+\\.(\(names))(/|$)"
        let result = try run(filter, number: 0, limit: 600)
        guard result.isSuccess else {
            throw Failure("the tests of \(folder) fail without a mutant:\n\(result.output.suffix(4000))")
        }
        print("\(folder): its tests take \(Int(result.seconds.rounded(.up))) s")
        return Suites(filter: filter, limit: 20 + 5 * Int(result.seconds.rounded(.up)))
    }

    private func run(_ filter: String, number: Int, limit: Int) throws -> Command.Result {
        try Command(
            "swift",
            "test",
            "--skip-build",
            "--ignore-lock",
            "--filter",
            filter,
            in: package.folder,
            environment: ["APICONNECTOR_MUTANT": "\(number)", "SWIFT_BACKTRACE": "enable=no"]
        ).run(limit: limit)
    }
}
