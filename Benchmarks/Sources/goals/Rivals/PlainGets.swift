// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import MicroCases

/// The small GET of G1 by this library and its rivals, without TLS.
struct PlainGets {
    static let names = ["ours", "URLSession", "async-http-client"]

    private let ours: ConnectorGet<SystemProvider>
    private let session: URLSessionGet
    private let client: AsyncHTTPClientGet

    /// Checks that each call works.
    init(_ nginx: NginxServer) async throws {
        ours = ConnectorGet(SystemProvider(), port: nginx.port)
        session = URLSessionGet(session: .shared, url: nginx.url("/small"))
        client = AsyncHTTPClientGet(url: nginx.url("/small"))
        for get in [ours, session, client] as [any SmallGet] { try await get.check() }
    }

    /// A contest of all three in requests per second.
    func contest(inFlight: Int, on bench: Bench) -> Contest {
        var contest = Contest()
        contest.add("ours") {
            try await Rate.perSecond(inFlight: inFlight, for: bench.turn) { keep(try await ours.value()) }
        }
        contest.add("URLSession") {
            try await Rate.perSecond(inFlight: inFlight, for: bench.turn) { keep(try await session.value()) }
        }
        contest.add("async-http-client") {
            try await Rate.perSecond(inFlight: inFlight, for: bench.turn) { keep(try await client.value()) }
        }
        return contest
    }
}
