// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ArgumentParser
import Foundation

/// The proof that processes share limits and sessions.
///
/// `Scripts/fleet` runs it.
@main
struct Fleet: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fleet",
        abstract: "Run 8 processes that share limits and a session, and count the requests that a backend gets.",
        discussion: "Needs redis-server. Exits with 1 if a claim is broken.",
        subcommands: [Demo.self, LimitWorker.self, SessionWorker.self]
    )

    /// A part of the proof.
    enum Part: String, CaseIterable, ExpressibleByArgument {
        case limit
        case disturbedLimit = "disturbed-limit"
        case concurrency
        case session
        case disturbedSession = "disturbed-session"
    }

    @Flag(help: "Make fewer calls, which takes about half a minute.")
    var quick = false

    @Flag(name: .customLong("unshared"), help: "Each process has its own limit and session: the proof has to fail.")
    var isUnshared = false

    @Option(name: .customLong("part"), help: "A part of the proof; all by default.")
    var parts = Part.allCases

    func run() async throws {
        var problems: [String] = []
        for part in parts {
            for (title, proof) in proofs(of: part) {
                print(title)
                fflush(nil)
                for problem in try await proof() {
                    print("  error: \(problem)")
                    problems.append(problem)
                }
            }
        }
        if !problems.isEmpty { throw ExitCode.failure }
        print("every claim holds")
    }

    private typealias Proof = (title: String, run: () async throws -> [String])

    private func proofs(of part: Part) -> [Proof] {
        var load = Load(isUnshared: isUnshared)
        switch part {
        case .limit:
            let callCount = quick ? 6000 : 1_000_000
            if quick { load.rate = 1000 }
            return [("\(callCount) calls, one limit in Redis", LimitProof(callCount: callCount, load: load).run)]
        case .disturbedLimit:
            // The rate is far below the speed of the machine, and the slack is small compared with the rate. Otherwise,
            // processes that do not share the limit would not exceed the bounds.
            load.rate = quick ? 500 : 1000
            load.batchCount = 20
            load.callerCount = 4
            let seconds = quick ? 10 : 45
            let callCount = load.rate * seconds + load.slack
            let disturbances = Disturbances(in: .seconds(seconds), suspension: .seconds(quick ? 1.5 : 5))
            let proof = LimitProof(callCount: callCount, load: load, disturbances: disturbances)
            return [("\(callCount) calls, while Redis is restarted, stopped and flushed", proof.run)]
        case .concurrency:
            let proof = ConcurrencyProof(
                callCount: quick ? 2000 : 50_000,
                load: load,
                refreshInterval: quick ? 800 : 2000
            )
            return [("\(proof.callCount) calls, one concurrency limit in Redis, processes killed", proof.run)]
        case .session:
            // Each killed process keeps the others waiting for the rest of its lease.
            let first = SessionProof(expiryCount: 1, load: load, waitingCount: load.processCount)
            let inFolder = SessionProof(expiryCount: quick ? 5 : 200, load: load, killShare: quick ? 5 : 20)
            let inRedis = SessionProof(expiryCount: quick ? 10 : 1000, load: load, killShare: quick ? 10 : 20)
            return [
                ("one expired token that 8 processes use, one session in a folder", { try await runInFolder(first) }),
                (
                    "\(inFolder.expiryCount) expiries, one session in a folder, processes killed",
                    { try await runInFolder(inFolder) }
                ),
                ("\(inRedis.expiryCount) expiries, one session in Redis, processes killed", inRedis.run),
            ]
        case .disturbedSession:
            let proof = SessionProof(
                expiryCount: quick ? 20 : 200,
                load: load,
                suspension: .seconds(quick ? 2 : 5)
            )
            return [("\(proof.expiryCount) expiries, while Redis is stopped, restarted and flushed", proof.run)]
        }
    }

    private func runInFolder(_ proof: SessionProof) async throws -> [String] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "ApiConnector-fleet-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        return try await proof.run(in: Store(argument: folder.path(percentEncoded: false)))
    }
}
