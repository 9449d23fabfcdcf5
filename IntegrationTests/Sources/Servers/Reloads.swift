// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if os(Linux)
public import ApiConnector
import Foundation

/// Loads on servers that reload their settings at the same time.
public struct Reloads: Sendable {
    private let count: Int
    private let interval: Int
    private let inFlight = 16

    /// - Parameters:
    ///   - count: The number of requests per load.
    ///   - interval: The number of requests between two reloads.
    public init(count: Int, between interval: Int) {
        (self.count, self.interval) = (count, interval)
    }

    /// The report of one load.
    public struct Report: Sendable {
        /// The server, the version of HTTP and the results.
        public let name: String
        /// The violations.
        public let problems: [String]

        /// - Parameter counts: The number of times that the server processed each request.
        init(_ name: String, _ result: LoadResult, processed counts: [String: Int]) {
            self.name = "\(name): \(result)"
            let reloads = result.workers.count < 2 ? ["only one worker answered: the server was not reloaded"] : []
            problems = reloads + result.problems(processed: counts)
        }
    }

    /// Runs the load on an nginx.
    public func ofNginx(_ method: HTTPMethod, over wire: Wire) async throws -> Report {
        let nginx = try Nginx()
        let url = try wire.url(of: nginx, "/small")
        let result = try await run(method, over: wire.provider(trusting: nginx.authority), at: url) {
            try nginx.reload()
        }
        return Report("nginx, \(wire)", result, processed: try nginx.processedCounts())
    }

    /// Runs the load on a HAProxy, always over TLS.
    public func ofHAProxy(_ method: HTTPMethod, over wire: Wire) async throws -> Report {
        let proxy = try HAProxy(.server(idleMilliseconds: 60_000))
        // The provider must end before the proxy, because an old worker waits until its clients close idle connections.
        let result = try await run(method, over: wire.provider(trusting: proxy.authority), at: proxy.url("/")) {
            try proxy.reload()
        }
        return Report("HAProxy, \(wire)", result, processed: try proxy.processedCounts())
    }

    private func run(
        _ method: HTTPMethod,
        over provider: CurlProvider,
        at url: URL,
        reload: @escaping @Sendable () throws -> Void
    ) async throws -> LoadResult {
        try await Load(method, count, inFlight: inFlight).run(over: provider, at: url) { [interval] endedCount in
            if endedCount.isMultiple(of: interval) { try reload() }
        }
    }
}
#endif
