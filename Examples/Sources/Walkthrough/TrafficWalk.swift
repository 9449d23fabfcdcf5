// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector
package import Backends
import Synchronization

/// Counts the requests that had to wait, and those that were refused.
private final class TrafficCounter: CallObserver {
    private let counts = Mutex((limited: 0, refused: 0))

    var limitedCount: Int { counts.withLock { $0.limited } }
    var refusedCount: Int { counts.withLock { $0.refused } }

    func handle(_ event: CallEvent) {
        switch event.kind {
        case .limited: counts.withLock { $0.limited += 1 }
        case .circuit(.refused): counts.withLock { $0.refused += 1 }
        default: break
        }
    }
}

/// Counts how many requests are on their way at the same time.
private final class InFlightCounter<Wrapped: DataRequestType>: DataRequestType {
    private let wrapped: Wrapped
    private let counts = Mutex((now: 0, most: 0))

    init(_ wrapped: Wrapped) {
        self.wrapped = wrapped
    }

    var most: Int { counts.withLock { $0.most } }

    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        counts.withLock { counts in
            counts.now += 1
            counts.most = max(counts.most, counts.now)
        }
        defer { counts.withLock { $0.now -= 1 } }
        return try await wrapped.response(for: request)
    }
}

extension Walk {
    /// What a limit holds back, and what an open circuit refuses.
    ///
    /// - Parameters:
    ///   - transport: What sends.
    ///   - environment: A stock without faults.
    ///   - down: A stock whose server is not there.
    package func traffic(
        over transport: some DataRequestType,
        at environment: BackendEnvironment,
        down: BackendEnvironment
    ) async {
        begin("Traffic control", at: environment)
        await step {
            await limited(over: transport, 100, environment)
        } check: { tally, limitedCount, most in
            try expect(tally.succeededCount, is: 100, "the number of calls that succeeded")
            try expect(limitedCount > 0 && most <= 4, is: true, "whether at most 4 were on their way")
            return "100 calls, 10 at a time: \(limitedCount) limited, at most 4 on their way"
        }
        await step {
            await circuit(over: transport, 30, down)
        } check: { failures, refusedCount in
            try expect(failures, is: ["cannotConnect": 10, "circuitOpen": 20], "how the calls failed")
            return "30 calls to a host that is down: 10 failed, then \(refusedCount) refused by the open circuit"
        }
    }

    private func limited(
        over transport: some DataRequestType,
        _ count: Int,
        _ environment: BackendEnvironment
    ) async -> (Tally, Int, Int) {
        let counter = TrafficCounter()
        let inFlight = InFlightCounter(transport)
        let stock = NetworkConnector(
            environment: environment,
            provider: inFlight.limited(RequestLimit(concurrentCount: 4)).observed(by: counter),
            router: StockRouter.self,
            configuration: ConnectionConfiguration(headers: [.authorization: "Bearer token-1"])
        )
        let tally = await stock.tally(of: count)
        return (tally, counter.limitedCount, inFlight.most)
    }

    private func circuit(
        over transport: some DataRequestType,
        _ count: Int,
        _ environment: BackendEnvironment
    ) async -> ([String: Int], Int) {
        let counter = TrafficCounter()
        let stock = NetworkConnector(
            environment: environment,
            provider: transport.circuitBreaking().observed(by: counter),
            router: StockRouter.self
        )
        var failures: [String: Int] = [:]
        for number in 0..<count {
            do throws(ApiConnectorError) {
                _ = try await stock.value(StockItem.self, at: .item(number))
            } catch {
                failures[error.kind.rawValue, default: 0] += 1
            }
        }
        return (failures, counter.refusedCount)
    }
}
