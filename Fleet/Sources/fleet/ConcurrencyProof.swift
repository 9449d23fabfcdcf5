// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Foundation
import NIOHTTP1
import Servers
import Synchronization

/// The proof with several processes and one concurrency limit in one Redis.
///
/// The backend must never have more requests at the same time than the limit allows. The places of killed processes
/// must come back.
struct ConcurrencyProof {
    /// The least number of calls.
    let callCount: Int
    let load: Load
    /// The interval at which a process renews its places, in milliseconds.
    let refreshInterval: Int

    /// The processes that survive have more callers than this.
    private static let limit = 40
    private static let killedCount = 4

    func run() async throws -> [String] {
        let redis = try Redis()
        let requests = OpenRequests()
        let backend = try await Backend { question in
            guard let process = question.process, requests.begin(by: process) else {
                return Backend.Answer(status: .gone)
            }
            let end = ContinuousClock.now + .milliseconds(40)
            // The backend counts the request as ended before it sends the response.
            return Backend.Answer(isHeld: {
                if ContinuousClock.now < end { return true }
                requests.end(by: process)
                return false
            })
        }
        let start = ContinuousClock.now
        let children = try (0..<load.processCount).map { _ in
            try Child(
                load.arguments + [
                    "--port", "\(backend.port)", "--store", redis.address, "--concurrent", "\(Self.limit)",
                    "--refresh-interval", "\(refreshInterval)",
                ]
            )
        }
        defer { for child in children { child.kill() } }
        while requests.count < callCount / 4, ContinuousClock.now - start < .seconds(300) {
            try await Task.sleep(for: .milliseconds(10))
        }
        for child in children.prefix(Self.killedCount) { child.kill() }
        requests.watch(Set(children.dropFirst(Self.killedCount).map(\.process)))
        let killTime = ContinuousClock.now
        let returnTime = try await waitForPlaces(requests)
        let (callCount, roundTripCount, end) = (requests.count, try redis.roundTripCount, ContinuousClock.now)
        requests.refuse()
        var problems: [String] = []
        var counts = CallCounts()
        for child in children.dropFirst(Self.killedCount) {
            counts.add(.of(try await child.waitForEnd(), problems: &problems))
        }
        problems += counts.failures.prefix(3).map { "a call failed: \($0)" }
        let seconds = Int((end - start) / .seconds(1))
        print("  \(callCount) calls arrived in \(seconds) s; \(Self.killedCount) processes killed")
        print("  most calls at the same time: \(requests.most), at most \(Self.limit)")
        if requests.most > Self.limit { problems.append("more calls at the same time than allowed") }
        if let returnTime {
            print("  \((returnTime / .seconds(1)).text) s after that, the other processes had all places")
        } else {
            problems.append("the other processes got \(requests.mostOfWatched) of \(Self.limit) places")
        }
        // While processes compete for places, each asks 20 times in an interval. At the start, each asks more often.
        let processTime =
            (killTime - start) * load.processCount + (end - killTime) * (load.processCount - Self.killedCount)
        let bound = Int(processTime * 20 / .milliseconds(refreshInterval)) + load.processCount * 10
        let share = callCount / max(roundTripCount, 1)
        print("  \(roundTripCount) round trips to Redis, at most \(bound); one in \(share) calls")
        if roundTripCount > bound { problems.append("\(roundTripCount) round trips, and \(bound) are allowed") }
        return problems
    }

    /// Waits until the processes that were not killed use all places, and the backend has got all calls.
    ///
    /// - Returns: How long it took until they used all places; nil if they did not.
    private func waitForPlaces(_ requests: OpenRequests) async throws -> Duration? {
        let start = ContinuousClock.now
        // Places are leased for 5 times the interval. The rest is for a busy machine.
        let limit = Duration.milliseconds(refreshInterval * 5) + .seconds(20)
        var returnTime: Duration?
        while returnTime == nil || requests.count < callCount {
            try await Task.sleep(for: .milliseconds(10))
            let time = ContinuousClock.now - start
            if returnTime == nil, requests.mostOfWatched >= Self.limit { returnTime = time }
            if time > (returnTime == nil ? limit : .seconds(300)) { break }
        }
        return returnTime
    }
}

/// Counts the requests that the backend has at the same time.
private final class OpenRequests: Sendable {
    private struct State {
        var count = 0
        var openCounts: [pid_t: Int] = [:]
        var most = 0
        var watched: Set<pid_t> = []
        var mostOfWatched = 0
        var isRefusing = false
    }

    private let state = Mutex(State())

    /// The number of requests until now.
    var count: Int { state.withLock { $0.count } }
    /// The largest number of requests at the same time.
    var most: Int { state.withLock { $0.most } }
    /// The largest number of requests of watched processes at the same time.
    var mostOfWatched: Int { state.withLock { $0.mostOfWatched } }

    /// Counts a request; false if it must be refused.
    func begin(by process: pid_t) -> Bool {
        state.withLock { state in
            guard !state.isRefusing else { return false }
            state.count += 1
            state.openCounts[process, default: 0] += 1
            state.most = max(state.most, state.openCounts.values.reduce(0, +))
            let watchedCount = state.watched.reduce(0) { $0 + state.openCounts[$1, default: 0] }
            state.mostOfWatched = max(state.mostOfWatched, watchedCount)
            return true
        }
    }

    func end(by process: pid_t) {
        state.withLock { $0.openCounts[process, default: 0] -= 1 }
    }

    /// Watches processes from now on.
    func watch(_ processes: Set<pid_t>) {
        state.withLock { $0.watched = processes }
    }

    /// Refuses all further requests.
    func refuse() {
        state.withLock { $0.isRefusing = true }
    }
}
