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

        /// - Parameter counts: How often the server processed each request.
        init(_ name: String, _ result: LoadResult, processed counts: [String: Int]) {
            self.name = "\(name): \(result)"
            let reloads = result.workers.count < 2 ? ["only one worker has answered: the server was not reloaded"] : []
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

    /// Runs the load on a HAProxy; it has TLS only.
    public func ofHAProxy(_ method: HTTPMethod, over wire: Wire) async throws -> Report {
        let proxy = try HAProxy(.server(idleMilliseconds: 60_000))
        // The provider ends before the proxy does: an old worker waits for its clients to close idle connections.
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
