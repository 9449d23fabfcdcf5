// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTraffic
import Crypto
import Foundation
import Servers

/// The proof with several processes and one session.
///
/// Each expiry of the token must cause one refresh, even if processes are killed during a refresh.
struct SessionProof {
    let expiryCount: Int
    let load: Load
    /// In each group of this number of refreshes, the server kills one process before its answer and one after its
    /// answer.
    ///
    /// On average, one more process is killed at a random time. 0 kills none.
    var killShare = 0
    /// The server answers a refresh only after it has refused calls of this number of processes.
    var waitingCount = 0
    /// How long Redis is stopped once; nil if Redis is not disturbed.
    var suspension: Duration?

    /// Runs the proof with a session in Redis.
    func run() async throws -> [String] {
        let redis = try Redis()
        return try await run(in: Store(argument: redis.address), redis)
    }

    /// Runs the proof with a session in a store.
    func run(in store: Store, _ redis: Redis? = nil) async throws -> [String] {
        let server = TokenServer(expiryCount: expiryCount, killShare: killShare, processCount: waitingCount)
        let backend = try await Backend { server.answer(to: $0) }
        let arguments = try await Self.arguments(backend, store, load, isDisturbed: suspension != nil)
        var children = try (0..<load.processCount).map { _ in try Child(arguments) }
        defer { for child in children { child.kill() } }
        let start = ContinuousClock.now
        var problems: [String] = []
        var counts = CallCounts()
        if let redis, let suspension { problems += try await disturb(redis, server, suspension) }
        var nextKill = killShare > 0 ? Int.random(in: 0...killShare) : .max
        while !children.isEmpty, problems.count < 3 {
            if ContinuousClock.now - start > .seconds(60) + .seconds(expiryCount) {
                problems.append("not at its end in time: \(server.counts)")
                break
            }
            try await Task.sleep(for: .milliseconds(5))
            if server.counts.expiryCount >= nextKill, !server.isDone, let child = children.randomElement() {
                try await Task.sleep(for: .microseconds(.random(in: 0...20_000)))
                server.kill(child.process)
                nextKill += .random(in: 1..<2 * killShare)
            }
            for (index, child) in children.enumerated().reversed() {
                guard let end = child.end() else { continue }
                children.remove(at: index)
                if end.signal == SIGKILL {
                    // Another process replaces the killed one.
                    if !server.isDone { children.append(try Child(arguments)) }
                } else {
                    counts.add(.of(end, problems: &problems))
                }
            }
        }
        problems += judge(server.counts, (ContinuousClock.now - start) / .seconds(1))
        problems += counts.judgeTimes()
        if suspension != nil {
            print("  \(counts.lateCount) calls failed by their deadline of 0.5 s, because Redis did not answer")
            if counts.lateCount == 0, !load.isUnshared { problems.append("no call needed Redis while it was stopped") }
        } else if counts.lateCount > 0 {
            problems.append("\(counts.lateCount) calls failed")
        }
        return problems
    }

    /// Stores a session.
    ///
    /// - Returns: The arguments of a process that uses the session.
    static func arguments(
        _ backend: Backend,
        _ store: Store,
        _ load: Load,
        isDisturbed: Bool = false
    ) async throws -> [String] {
        let key = SymmetricKey(size: .bits256).withUnsafeBytes { Data($0).base64EncodedString() }
        try await SharedSession<Tokens>(in: store.open(), key: key).signIn(Tokens(number: 0))
        return ["session-worker", "--port", "\(backend.port)", "--store", store.argument, "--key", key]
            // A call that waited for the end of an operation, and not for its own deadline, would be late by more than
            // the proof allows.
            + (isDisturbed ? ["--call-limit", "500", "--operation-limit", "3000"] : [])
            + (load.isUnshared ? ["--alone"] : [])
    }

    /// Stops, restarts and flushes Redis, each at a moment at which no process refreshes.
    ///
    /// During a refresh, a process might be unable to store the new session, and the others would use the old refresh
    /// token.
    private func disturb(_ redis: Redis, _ server: TokenServer, _ suspension: Duration) async throws -> [String] {
        var problems: [String] = []
        func wait(_ condition: () -> Bool) async throws {
            let end = ContinuousClock.now + .seconds(30)
            while !condition() {
                if ContinuousClock.now > end { return problems.append("not ready in time: \(server.counts)") }
                try await Task.sleep(for: .milliseconds(2))
            }
        }
        func disturb(after share: Int, _ text: String, _ action: () async throws -> Void) async throws {
            guard problems.isEmpty else { return }
            try await wait { server.counts.expiryCount >= expiryCount * share / 4 }
            server.holdExpiries()
            try await wait { server.isQuiet(for: load.processCount) }
            if problems.isEmpty {
                print("  at \(server.counts.expiryCount) expiries: Redis \(text)")
                try await action()
            }
            server.resumeExpiries()
        }
        /// Suspends Redis until the token has expired, and then for the duration.
        func suspend(for duration: Duration) async throws {
            let count = server.counts.refreshCount
            try redis.suspend()
            server.resumeExpiries()
            try await wait { server.isExpired }
            try await Task.sleep(for: duration)
            if server.counts.refreshCount != count { problems.append("a process refreshed the session without Redis") }
        }
        try await disturb(after: 1, "stopped by a signal for \(suspension)") {
            try await suspend(for: suspension)
            try redis.resume()
        }
        try await disturb(after: 2, "stopped, killed and started again") {
            try await suspend(for: .milliseconds(200))
            try redis.restart()
        }
        try await disturb(after: 3, "flushed") { try redis.run("-n 1 flushall") }
        return problems
    }

    private func judge(_ counts: TokenServer.Counts, _ seconds: Double) -> [String] {
        var problems: [String] = []
        print("  \(counts.expiryCount) expiries caused \(counts.refreshCount) refreshes, in \(Int(seconds)) s")
        if killShare > 0 {
            print(
                "  processes killed: \(counts.killedBeforeCount) before the answer to their refresh,"
                    + " \(counts.killedAfterCount) after it, \(counts.killedAnyTimeCount) at any moment;"
                    + " \(counts.repeatCount) of them before they had stored the session"
            )
        }
        print(
            "  \(counts.callCount) calls answered, \(counts.refusedProcesses.count) processes refused;"
                + " \(counts.needlessCount) refreshes without need, \(counts.reuseCount) tokens used twice"
        )
        if counts.expiryCount != expiryCount || counts.refreshCount != expiryCount {
            problems.append("\(expiryCount) expiries are to cause as many refreshes")
        }
        if counts.needlessCount > 0 { problems.append("\(counts.needlessCount) refreshes of a valid token") }
        if counts.reuseCount > 0 { problems.append("\(counts.reuseCount) refresh tokens used twice") }
        var least = min(counts.killedBeforeCount, counts.killedAfterCount)
        if expiryCount > killShare * 10 { least = min(least, counts.killedAnyTimeCount) }
        if killShare > 0, least == 0 {
            problems.append("too few processes were killed for this to say anything")
        }
        return problems
    }
}
