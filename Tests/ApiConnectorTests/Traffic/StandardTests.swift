// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import ApiConnectorTraffic
import Testing

/// The recommended order, by what can be seen of it.
@Suite(.timeLimit(.minutes(10))) struct StandardTests {}

extension StandardTests {
    /// Three attempts and no wait between them.
    private static let policy = RetryPolicy(maximumAttemptCount: 3, budget: .unlimited, random: { 0 })

    @Test func withACacheEachUserCausesOneRequestDespiteFailures() async throws {
        let sent = Locked<[String]>([])
        let url = try #require(URL(string: "http://shop.example.com/teas"))
        let server = TestConnector { request in
            let user = request.headers[.authorization] ?? "nobody"
            let isFirst = sent.withLock { sent in
                sent.append(user)
                return sent.count { $0 == user } == 1
            }
            guard !isFirst else { return .status(503) }
            return .data(Data(user.utf8), headers: ["Cache-Control": "private, max-age=60"])
        }
        let kept = server.standard(Self.policy, cachedIn: MemoryCacheStorage())
        for user in ["ada", "ted", "ada", "ted"] {
            let credentials = ApiCredential.perRequest { _ in .bearer(user) }
            let provider = kept.authenticating(by: credentials, for: .origins(url))
            let response = try await provider.response(for: ApiRequest(url: url))
            #expect(try await response.body.collect(upTo: 100) == Data("Bearer \(user)".utf8))
        }
        // A failure, an answer, and none of them a second time.
        #expect(sent.withLock { $0 } == ["Bearer ada", "Bearer ada", "Bearer ted", "Bearer ted"])
    }
}
