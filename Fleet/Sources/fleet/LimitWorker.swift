// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTraffic
import ArgumentParser
import Foundation

/// One process that makes limited calls, and prints its ``CallCounts``.
struct LimitWorker: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "limit-worker", shouldDisplay: false)

    @Option var port: Int
    @Option var store: Store
    @Option var processCount: Int
    @Option var callerCount: Int
    @Option var rate: Int
    @Option var burstCount: Int
    @Option var batchCount: Int
    @Option(help: "The number of this process's calls; by default, it calls until the backend expects no more calls.")
    var callCount: Int?
    @Option(help: "The limit on concurrent calls of all processes together, instead of a rate.")
    var concurrent: Int?
    @Option(help: "How often the process renews its places, in milliseconds.")
    var refreshInterval = 2000
    @Option(help: "The time limit of an operation of the store in milliseconds.")
    var operationLimit = 250
    @Flag(help: "One of twenty calls has a deadline so short that it cannot wait for a store that does not answer.")
    var hasty = false
    // The parent command has the name "unshared".
    @Flag(help: "The process has its own limit.")
    var alone = false

    func run() async throws {
        guard let url = URL(string: "http://127.0.0.1:\(port)/") else { return }
        let rate = RequestRate(rate, per: .seconds(1), burstCount: burstCount)
        let policy = SharedLimitPolicy(
            batchCount: batchCount,
            instanceCount: processCount,
            operationLimit: .milliseconds(operationLimit),
            refreshInterval: .milliseconds(refreshInterval)
        )
        let shared = SharedLimit(named: "fleet", in: try store.open(), policy: policy)
        let limit = concurrent.map { RequestLimit(concurrent: .fixed($0)) } ?? RequestLimit(rate: rate)
        let provider =
            alone
            ? AnyProvider(SystemProvider().limiting(limit))
            : AnyProvider(SystemProvider().limiting(limit, sharedAs: shared))
        let counts = await withTaskGroup(of: CallCounts.self) { group in
            for caller in 0..<callerCount {
                let count = callCount.map { $0 / callerCount + (caller < $0 % callerCount ? 1 : 0) } ?? .max
                group.addTask {
                    var counts = CallCounts()
                    for number in 0..<count {
                        let limit: Duration = hasty && number % 20 == 19 ? .milliseconds(100) : .seconds(20)
                        guard let call = await CallCounts.ofCall(to: url, over: provider, within: limit) else { break }
                        counts.add(call)
                    }
                    return counts
                }
            }
            return await group.reduce(CallCounts(), +)
        }
        try counts.write()
    }
}
