// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if os(Linux)
public import ApiConnector
import Foundation

/// Loads on servers that read their settings again meanwhile.
public struct Reloads: Sendable {
    private let count: Int
    private let interval: Int
    private let inFlight = 16

    /// - Parameters:
    ///   - count: How many requests each load has.
    ///   - interval: After how many of them the server is reloaded, each time.
    public init(count: Int, between interval: Int) {
        (self.count, self.interval) = (count, interval)
    }

    /// What one load came to.
    public struct Report: Sendable {
        /// The server, the version of HTTP and what became of the requests.
        public let name: String
        /// What must not happen and did.
        public let problems: [String]
    }

    /// Runs the load on an nginx.
    public func ofNginx(_ method: HTTPMethod, over wire: Wire) async throws -> Report {
        let nginx = try Nginx()
        let url = try wire.url(of: nginx, "/small")
        let result = try await run(method, over: wire.provider(trusting: nginx.authority), at: url) {
            try nginx.reload()
        }
        var problems = result.problems(processed: try nginx.processedCounts())
        if result.workers.count < 2 { problems.append("nginx was not reloaded") }
        return Report(name: "nginx, \(wire): \(result)", problems: problems)
    }

    /// Runs the load on a HAProxy; it has TLS only.
    public func ofHAProxy(_ method: HTTPMethod, over wire: Wire) async throws -> Report {
        let proxy = try HAProxy(.server(idleMilliseconds: 60_000))
        // The provider ends before the proxy does: an old worker waits for its clients to close idle connections.
        let result = try await run(method, over: wire.provider(trusting: proxy.authority), at: proxy.url("/")) {
            try proxy.reload()
        }
        return Report(
            name: "HAProxy, \(wire): \(result)",
            problems: result.problems(processed: try proxy.processedCounts())
        )
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
