// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ArgumentParser
import Foundation
import Servers

/// The proof that processes share limits and sessions.
///
/// `Scripts/fleet` runs it.
@main
struct Fleet: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fleet",
        abstract: "Run 8 processes that share limits and a session, and count what a backend gets.",
        discussion: "Needs redis-server. Exits with 1 if a claim is broken.",
        subcommands: [LimitWorker.self, SessionWorker.self]
    )

    @Option(help: "The number of limited calls.")
    var calls = 1_000_000

    @Option(help: "How often the token expires.")
    var expiries = 1000

    @OptionGroup var load: LoadOptions

    func run() async throws {
        var problems: [String] = []
        func prove(_ title: String, _ proof: () async throws -> [String]) async throws {
            print(title)
            fflush(nil)
            for problem in try await proof() {
                print("  error: \(problem)")
                problems.append(problem)
            }
        }
        try await prove("\(calls) calls, one limit in Redis") {
            try await LimitProof(callCount: calls, load: load, isDisturbed: false).run()
        }
        // The run must be long enough for the disturbances, which include 5 seconds without Redis.
        let disturbedCount = max(calls / 10, load.rate * 20)
        try await prove("\(disturbedCount) calls, while Redis is restarted, stopped and flushed") {
            try await LimitProof(callCount: disturbedCount, load: load, isDisturbed: true).run()
        }
        let concurrentCount = max(calls / 20, 10_000)
        try await prove("\(concurrentCount) calls, one concurrency limit in Redis, processes killed") {
            try await ConcurrencyProof(callCount: concurrentCount, load: load).run()
        }
        try await prove("one expired token that 8 processes use, one session in a folder") {
            try await inFolder { try await SessionProof(expiryCount: 1, killShare: 0, waitingCount: 8).run(in: $0) }
        }
        // Each killed process keeps the others waiting for the rest of its lease.
        let killShare = expiries < 500 ? 10 : 20
        try await prove("\(expiries / 5) expiries, one session in a folder, processes killed") {
            try await inFolder { try await SessionProof(expiryCount: expiries / 5, killShare: killShare).run(in: $0) }
        }
        try await prove("\(expiries) expiries, one session in Redis, processes killed") {
            let redis = try Redis()
            return try await SessionProof(expiryCount: expiries, killShare: killShare).run(
                in: Store(argument: redis.address)
            )
        }
        if !problems.isEmpty { throw ExitCode.failure }
        print("every claim holds")
    }

    private func inFolder(_ body: (Store) async throws -> [String]) async throws -> [String] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "ApiConnector-fleet-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        return try await body(Store(argument: folder.path(percentEncoded: false)))
    }
}
