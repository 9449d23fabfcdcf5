// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ArgumentParser
import Foundation
import Servers

/// `fleet demo`.
struct Demo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Run 4 processes with one rate limit and one session, without sharing and with Redis.",
        discussion: "Starts redis-server on a free port. Exits with 1 if the processes exceed the shared limit, or if"
            + " they refresh the session more than once."
    )

    private static let callCount = 160

    func run() async throws {
        guard Redis.isInstalled else { throw ValidationError("redis-server is not installed") }
        let redis = try Redis()
        print("4 processes call one server. Redis runs on port \(redis.port).")
        var load = Load(processCount: 4, callerCount: 4, rate: 40, batchCount: 5)
        var isAsExpected = true
        print("\nA rate limit of \(load.rate) calls per second, with a burst of \(load.burst)")
        for isShared in [false, true] {
            load.isUnshared = !isShared
            let (mostCount, seconds) = try await mostCalls(load, redis)
            let (most, bound) = (mostCount, load.rate + load.burst + load.slack)
            print(
                "  \(text(isShared)): the server got \(Self.callCount) calls in \(seconds.text) s,"
                    + " at most \(most) within a second"
            )
            if isShared, most > bound { isAsExpected = false }
        }
        print("\nOne session whose access token has expired")
        for isShared in [false, true] {
            load.isUnshared = !isShared
            let counts = try await refreshes(load, redis)
            let all = counts.refreshCount + counts.reuseCount
            let note = counts.reuseCount > 0 ? "; \(counts.reuseCount) of them with a refresh token used before" : ""
            print("  \(text(isShared)): the server got \(all) \(all == 1 ? "refresh" : "refreshes")\(note)")
            if isShared, all != 1 { isAsExpected = false }
        }
        if !isAsExpected { throw ExitCode.failure }
    }

    private func text(_ isShared: Bool) -> String { isShared ? "with Redis" : "without sharing" }

    /// - Returns: The largest number of calls that the server got within a second, and the duration of all calls.
    private func mostCalls(_ load: Load, _ redis: Redis) async throws -> (Int, Double) {
        let arrivals = Arrivals()
        let backend = try await Backend { _ in
            arrivals.add()
            return Backend.Answer()
        }
        let arguments = [
            "--port", "\(backend.port)", "--store", redis.address, "--call-count",
            "\(Self.callCount / load.processCount)",
        ]
        try await run(load.arguments + arguments, count: load.processCount)
        let times = arrivals.times
        guard times.count == Self.callCount, let first = times.first, let last = times.last else {
            throw ValidationError("the server got \(times.count) calls instead of \(Self.callCount)")
        }
        return (arrivals.most(in: .seconds(1)), Double(last - first) / 1e9)
    }

    private func refreshes(_ load: Load, _ redis: Redis) async throws -> TokenServer.Counts {
        let server = TokenServer(expiryCount: 1, killShare: 0, processCount: load.processCount)
        let backend = try await Backend { server.answer(to: $0) }
        let store = Store(argument: redis.address)
        // Without sharing, the refresh of one process invalidates the session of the others.
        try await run(SessionProof.arguments(backend, store, load), count: load.processCount)
        return server.counts
    }

    private func run(_ arguments: [String], count: Int) async throws {
        let children = try (0..<count).map { _ in try Child(arguments) }
        defer { for child in children { child.kill() } }
        for child in children { _ = try await child.waitForEnd() }
    }
}
