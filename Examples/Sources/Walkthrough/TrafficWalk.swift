// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector
import ApiConnectorTraffic
package import Backends
import Synchronization

/// Counts the requests that were delayed, refused or not sent.
private final class TrafficCounter: CallObserver {
    private let counts = Mutex((limited: 0, refused: 0, joined: 0, cached: 0))

    var limitedCount: Int { counts.withLock { $0.limited } }
    var refusedCount: Int { counts.withLock { $0.refused } }
    var joinedCount: Int { counts.withLock { $0.joined } }
    var cachedCount: Int { counts.withLock { $0.cached } }

    func handle(_ event: CallEvent) {
        switch event.kind {
        case .limited: counts.withLock { $0.limited += 1 }
        case .circuit(.refused): counts.withLock { $0.refused += 1 }
        case .joined: counts.withLock { $0.joined += 1 }
        case .servedFromCache: counts.withLock { $0.cached += 1 }
        default: break
        }
    }
}

/// Counts the requests that are sent, and the largest number in flight.
private final class InFlightCounter<Wrapped: DataRequestType>: DataRequestType {
    private let wrapped: Wrapped
    private let counts = Mutex((all: 0, now: 0, most: 0))

    init(_ wrapped: Wrapped) {
        self.wrapped = wrapped
    }

    var all: Int { counts.withLock { $0.all } }
    var most: Int { counts.withLock { $0.most } }

    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        counts.withLock { counts in
            counts.all += 1
            counts.now += 1
            counts.most = max(counts.most, counts.now)
        }
        defer { counts.withLock { $0.now -= 1 } }
        return try await wrapped.response(for: request)
    }
}

/// A transport with two counters: for calls, and for sent requests.
private struct CountedTraffic<Transport: DataRequestType> {
    let calls = TrafficCounter()
    let sent: InFlightCounter<Transport>

    init(over transport: Transport) {
        sent = InFlightCounter(transport)
    }

    /// A connection to a stock, with the wrappers that a closure adds around the transport.
    func stock<Provider: DataRequestType>(
        at environment: BackendEnvironment,
        headers: HTTPHeaders = HTTPHeaders(),
        _ provider: (InFlightCounter<Transport>) -> Provider
    ) -> NetworkConnector<some DataRequestType, StockRouter> {
        NetworkConnector(
            environment: environment,
            provider: provider(sent).observing(by: calls),
            configuration: ConnectionConfiguration(headers: headers)
        )
    }
}

extension Walk {
    /// Shows a concurrency limit, a cache with deduplication, and a circuit breaker.
    ///
    /// - Parameters:
    ///   - transport: The transport that sends the requests.
    ///   - environment: A stock without faults.
    ///   - down: A stock without a server.
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
            try expect(limitedCount > 0 && most <= 4, is: true, "whether at most 4 were in flight")
            return "100 calls, 10 at a time: \(limitedCount) delayed, at most 4 in flight"
        }
        await step {
            await cached(over: transport, 20, environment)
        } check: { sentCount, joinedCount, cachedCount in
            try expect(sentCount, is: 1, "the number of requests that were sent")
            try expect(joinedCount + cachedCount, is: 39, "the number of calls without a request")
            return "40 calls, 20 at once: 1 sent, \(joinedCount) joined it, \(cachedCount) served from the cache"
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
        let traffic = CountedTraffic(over: transport)
        let stock = traffic.stock(at: environment, headers: [.authorization: "Bearer token-1"]) {
            $0.limiting(RequestLimit(concurrent: 4))
        }
        let tally = await stock.tally(of: count)
        return (tally, traffic.calls.limitedCount, traffic.sent.most)
    }

    /// - Returns: The numbers of sent requests, of calls that joined a request, and of calls answered by the cache.
    private func cached(
        over transport: some DataRequestType,
        _ count: Int,
        _ environment: BackendEnvironment
    ) async -> (Int, Int, Int) {
        let traffic = CountedTraffic(over: transport)
        let stock = traffic.stock(at: environment) { $0.standard(cachedIn: MemoryCacheStorage()) }
        for _ in 0..<2 {
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<count {
                    group.addTask { _ = try? await stock.value(StockList.self, at: .items) }
                }
            }
        }
        return (traffic.sent.all, traffic.calls.joinedCount, traffic.calls.cachedCount)
    }

    private func circuit(
        over transport: some DataRequestType,
        _ count: Int,
        _ environment: BackendEnvironment
    ) async -> ([String: Int], Int) {
        let traffic = CountedTraffic(over: transport)
        let stock = traffic.stock(at: environment) { $0.circuitBreaking() }
        var failures: [String: Int] = [:]
        for number in 0..<count {
            do throws(ApiConnectorError) {
                _ = try await stock.value(StockItem.self, at: .item(number))
            } catch {
                failures[error.kind.rawValue, default: 0] += 1
            }
        }
        return (failures, traffic.calls.refusedCount)
    }
}
