// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ArgumentParser
import Foundation
import Servers
import Synchronization

/// The proof with 8 processes and one concurrency limit in one Redis.
///
/// The backend must never have more requests at the same time than the limit allows. The places of killed processes
/// must come back.
struct ConcurrencyProof {
    let callCount: Int
    let load: LoadOptions

    private static let limit = 40
    private static let killedCount = 4

    func run() async throws -> [String] {
        let redis = try Redis()
        let requests = OpenRequests()
        let backend = try await Backend { _ in
            requests.begin()
            let end = ContinuousClock.now + .milliseconds(20)
            // A request is over before the client can know it.
            return Backend.Answer(isHeld: {
                if ContinuousClock.now < end { return true }
                requests.end()
                return false
            })
        }
        let count = LoadOptions.processCount
        let start = ContinuousClock.now
        let children = try (0..<count).map { _ in
            try Child(
                [
                    "limit-worker", "--port", "\(backend.port)", "--store", redis.address,
                    "--call-count", "\(callCount / count)", "--concurrent", "\(Self.limit)",
                ] + load.arguments
            )
        }
        defer { for child in children { child.kill() } }
        while requests.count < callCount / 4, ContinuousClock.now - start < .seconds(300) {
            try await Task.sleep(for: .milliseconds(10))
        }
        for child in children.prefix(Self.killedCount) { child.kill() }
        requests.restart()
        let killTime = ContinuousClock.now
        var problems: [String] = []
        for child in children.dropFirst(Self.killedCount) {
            let end = try await child.waitForEnd()
            let counts = try? JSONDecoder().decode(CallCounts.self, from: Data(end.text.utf8))
            if end.status != 0 || counts == nil {
                problems.append("a process ended with signal \(end.signal), status \(end.status): \(end.text)")
            }
            problems += counts?.failures.prefix(3).map { "a call failed: \($0)" } ?? []
        }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        print("  \(requests.count) calls arrived in \(Int(seconds)) s; \(Self.killedCount) processes killed")
        print(
            "  most calls at the same time: \(requests.mostBefore) before, \(requests.most) after; at most \(Self.limit)"
        )
        if max(requests.mostBefore, requests.most) > Self.limit {
            problems.append("more calls at the same time than allowed")
        }
        // Places are leased for 10 seconds.
        if ContinuousClock.now - killTime > .seconds(15), requests.most < Self.limit {
            problems.append("places of killed processes did not come back")
        }
        let statistics = try redis.run("info commandstats")
        let roundTripCount = statistics.firstMatch(of: /cmdstat_evalsha:calls=(\d+)/).flatMap { Int($0.1) } ?? 0
        print("  \(roundTripCount) round trips to Redis, one in \(requests.count / max(roundTripCount, 1)) calls")
        return problems
    }
}

/// Counts the requests that the backend has at the same time.
private final class OpenRequests: Sendable {
    private struct State {
        var count = 0
        var openCount = 0
        var most = 0
        var mostBefore = 0
    }

    private let state = Mutex(State())

    var count: Int { state.withLock { $0.count } }
    var most: Int { state.withLock { $0.most } }
    var mostBefore: Int { state.withLock { $0.mostBefore } }

    func begin() {
        state.withLock { state in
            state.count += 1
            state.openCount += 1
            state.most = max(state.most, state.openCount)
        }
    }

    func end() {
        state.withLock { $0.openCount -= 1 }
    }

    /// Keeps the largest number until now as ``mostBefore``, and starts a new one.
    func restart() {
        state.withLock { state in
            state.mostBefore = state.most
            state.most = 0
        }
    }
}
