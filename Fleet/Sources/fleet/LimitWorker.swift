// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTraffic
import ArgumentParser
import Foundation

/// The results of a process's calls.
struct CallCounts: Codable, Sendable {
    var successCount = 0
    /// The number of calls with a short deadline that could not start in time.
    var lateCount = 0
    var failures: [String] = []
    /// The duration of the longest call in seconds.
    var longestCall = 0.0
    /// The longest time in seconds by which a call ended after its deadline.
    var longestExcess = 0.0

    static func + (one: CallCounts, other: CallCounts) -> CallCounts {
        CallCounts(
            successCount: one.successCount + other.successCount,
            lateCount: one.lateCount + other.lateCount,
            failures: one.failures + other.failures,
            longestCall: max(one.longestCall, other.longestCall),
            longestExcess: max(one.longestExcess, other.longestExcess)
        )
    }
}

/// One process that makes a share of the limited calls, and prints its ``CallCounts``.
struct LimitWorker: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "limit-worker", shouldDisplay: false)

    @Option var port: Int
    @Option var store: Store
    @Option var callCount: Int
    @Option(help: "The limit on concurrent calls of all processes together, instead of a rate.")
    var concurrent: Int?
    @OptionGroup var load: LoadOptions

    func run() async throws {
        guard let url = URL(string: "http://127.0.0.1:\(port)/") else { return }
        let rate = RequestRate(load.rate, per: .seconds(1), burstCount: load.burst)
        let policy = SharedLimitPolicy(instanceCount: LoadOptions.processCount)
        let shared = SharedLimit(named: "fleet", in: try store.open(), policy: policy)
        let limit = concurrent.map { RequestLimit(concurrent: .fixed($0)) } ?? RequestLimit(rate: rate)
        let provider =
            load.isUnshared
            ? AnyProvider(SystemProvider().limiting(limit))
            : AnyProvider(SystemProvider().limiting(limit, sharedAs: shared))
        let counts = await withTaskGroup(of: CallCounts.self) { group in
            for caller in 0..<LoadOptions.callerCount {
                let count =
                    callCount / LoadOptions.callerCount
                    + (caller < callCount % LoadOptions.callerCount ? 1 : 0)
                group.addTask {
                    var counts = CallCounts()
                    for number in 0..<count {
                        // One of twenty calls has a deadline so short that it cannot wait for a store that does not
                        // answer.
                        let isHasty = number % 20 == 19 && concurrent == nil
                        await counts.add(call(url, over: provider, within: isHasty ? .milliseconds(100) : .seconds(20)))
                    }
                    return counts
                }
            }
            return await group.reduce(CallCounts(), +)
        }
        print(String(decoding: try JSONEncoder().encode(counts), as: UTF8.self))
    }

    private func call(_ url: URL, over provider: AnyProvider, within limit: Duration) async -> CallCounts {
        var request = ApiRequest(url: url)
        let start = request.timeSource.now
        request.deadline = start + limit
        var counts = CallCounts()
        do throws(ApiConnectorError) {
            let response = try await provider.response(for: request)
            _ = try await response.body.collect(upTo: 100)
            counts.successCount = 1
        } catch {
            if error.kind == .deadlineExceeded, limit < .seconds(1) {
                counts.lateCount = 1
            } else {
                counts.failures = ["\(error)"]
            }
        }
        let time = request.timeSource.now - start
        counts.longestCall = time / .seconds(1)
        counts.longestExcess = max((time - limit) / .seconds(1), 0)
        return counts
    }
}

extension CallCounts {
    mutating func add(_ other: CallCounts) {
        self = self + other
    }
}

/// The options for the load, which all processes know.
struct LoadOptions: ParsableArguments {
    static let processCount = 8
    static let callerCount = 16
    /// The default batch of a shared limit.
    static let batchCount = SharedLimitPolicy().batchCount

    @Option(help: "How many calls a second all processes together may start.")
    var rate = 5000

    @Flag(name: .customLong("unshared"), help: "Each process has its own limit: the proof has to fail.")
    var isUnshared = false

    var burst: Int { rate / 10 }

    var arguments: [String] { ["--rate", "\(rate)"] + (isUnshared ? ["--unshared"] : []) }
}
