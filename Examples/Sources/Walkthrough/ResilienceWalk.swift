// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector
package import Backends
import Synchronization

/// The results of some calls.
package struct Tally: Sendable, Equatable {
    package var succeededCount = 0
    /// The number of failures per kind.
    package var failures: [String: Int] = [:]
    package var retriedCount = 0
    package var refreshedCount = 0

    package var failedCount: Int { failures.values.reduce(0, +) }

    /// The summary on one line.
    package var summary: String {
        let kinds = failures.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        let failed = failures.isEmpty ? "0 failed" : "\(failedCount) failed (\(kinds))"
        return "\(succeededCount) succeeded, \(failed), \(retriedCount) retried, \(refreshedCount) refreshed"
    }
}

/// Counts the providers' decisions.
private final class DecisionCounter: CallObserver {
    private let tally = Mutex(Tally())

    var counts: Tally { tally.withLock { $0 } }

    func handle(_ event: CallEvent) {
        switch event.kind {
        case .retrying: tally.withLock { $0.retriedCount += 1 }
        case .credentials(.refreshStarted): tally.withLock { $0.refreshedCount += 1 }
        default: break
        }
    }
}

extension Walk {
    /// Makes the same calls, with a bare provider or with the standard composition.
    ///
    /// - Parameters:
    ///   - transport: The transport that sends the requests.
    ///   - count: The number of calls.
    ///   - isStandard: Whether to wrap the transport in the standard composition.
    ///   - environment: A stock that has not received any requests.
    @discardableResult
    package func resilience(
        over transport: some DataRequestType,
        callCount count: Int = 200,
        isStandard: Bool,
        at environment: BackendEnvironment
    ) async -> Tally? {
        begin(isStandard ? "The standard composition" : "A bare provider", at: environment)
        return await step {
            isStandard
                ? await standardTally(over: transport, count, environment)
                : await bareTally(over: transport, count, environment)
        } check: { tally in
            try expect(tally.succeededCount + tally.failedCount, is: count, "the number of calls that ended")
            if isStandard { try expect(tally.failedCount, is: 0, "the number of calls that failed") }
            return "\(count) calls: \(tally.summary)"
        }
    }

    private func bareTally(
        over transport: some DataRequestType,
        _ count: Int,
        _ environment: BackendEnvironment
    ) async -> Tally {
        let stock = NetworkConnector(
            environment: environment,
            provider: transport,
            router: StockRouter.self,
            configuration: ConnectionConfiguration(headers: [.authorization: "Bearer token-1"])
        )
        return await stock.tally(of: count)
    }

    private func standardTally(
        over transport: some DataRequestType,
        _ count: Int,
        _ environment: BackendEnvironment
    ) async -> Tally {
        let accounts = NetworkConnector(environment: environment, provider: transport, router: StockRouter.self)
        let session = RefreshableCredentials(.bearer("token-1")) { _ in
            .bearer(try await accounts.value(StockToken.self, at: .newToken).token)
        }
        let counter = DecisionCounter()
        let stock = NetworkConnector(
            environment: environment,
            provider: transport.standard(authenticatedBy: session, observedBy: counter),
            router: StockRouter.self
        )
        var tally = await stock.tally(of: count)
        tally.retriedCount = counter.counts.retriedCount
        tally.refreshedCount = counter.counts.refreshedCount
        return tally
    }
}

extension ApiConnectionType where RouterType == StockRouter {
    /// Requests `count` items, ten at a time.
    func tally(of count: Int) async -> Tally {
        await withTaskGroup(of: String?.self) { group in
            var tally = Tally()
            func note(_ failure: String?) {
                if let failure { tally.failures[failure, default: 0] += 1 } else { tally.succeededCount += 1 }
            }
            for number in 0..<count {
                if number >= 10, let failure = await group.next() { note(failure) }
                group.addTask {
                    do throws(ApiConnectorError) {
                        let item = try await value(StockItem.self, at: .item(number))
                        return item.item == number ? nil : "another item"
                    } catch {
                        return error.response.map { String($0.status.rawValue) } ?? error.kind.rawValue
                    }
                }
            }
            for await failure in group { note(failure) }
            return tally
        }
    }
}
