// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import ApiConnectorTraffic
import Testing

enum TrafficControl {
    private static let session = RefreshableCredentials(.bearer("t")) { _ in .bearer("t2") }
    private static let log = CallLog { _, _ in }
    private static let main = URL(string: "https://api.example.com") ?? URL(filePath: "")
    private static let mirror = URL(string: "https://mirror.example.com") ?? URL(filePath: "")

    @Test static func composesWrappersInThisOrder() {
        let provider = SystemProvider()
            .circuitBreaking()
            .limiting(RequestLimit(concurrent: 6))
            .hedging()
            .failingOver(to: [main, mirror], credentials: .connection(and: mirror))
            .retrying()
            .authenticating(by: session, for: .connection(and: mirror))
            .observing(by: log)
        _ = provider
    }

    @Test static func limitsAHostAndAClassOfRoutes() {
        let provider = SystemProvider()
            .limiting(RequestLimit(concurrent: 6))
            .limiting(RequestLimit(rate: RequestRate(2, per: .seconds(1)))) { request in
                request.routeName == "search" ? "search" : nil
            }
        _ = provider
    }

    @Test static func followsTheServer() {
        let provider = SystemProvider().limiting(RequestLimit(concurrent: .adaptive(in: 4...200)))
        _ = provider
    }

    @Test static func asksWithPriority() async throws {
        let api = NetworkConnector(
            environment: .production,
            provider: TestConnector { _ in .json([Article]()) },
            router: Blog.self
        )
        let articles = try await api.value(
            [Article].self,
            at: .articles(for: .now),
            options: CallOptions(priority: .high)
        )
        #expect(articles.isEmpty)
    }

    @Test static func leavesAHostAlone() {
        let policy = CircuitPolicy(failureShare: 0.25, window: .seconds(60), minimumCount: 20)
        let provider = SystemProvider().circuitBreaking(policy)
        _ = provider
    }

    @Test static func saysWhenToComeBack() async throws {
        let failing = TestConnector { _ in .status(503) }
        let provider = failing.circuitBreaking(CircuitPolicy(minimumCount: 1))
        let api = NetworkConnector(environment: .production, provider: provider, router: Blog.self)
        var shown: [String] = []
        func show(_ text: String) { shown.append(text) }
        _ = try? await api.value([Article].self, at: .articles(for: .now))
        do {
            _ = try await api.value([Article].self, at: .articles(for: .now))
        } catch {
            guard let circuit = error.underlying as? OpenCircuit else { throw error }
            show("Try again at \(circuit.until.formatted()).")
        }
        #expect(shown.count == 1)
    }

    @Test static func sendsASecondRequest() {
        let provider = SystemProvider().hedging(HedgePolicy(percentile: 0.99, delay: .milliseconds(300)))
        _ = provider
    }

    @Test static func asksAnotherHost() {
        let provider = SystemProvider().failingOver(to: [main, mirror], credentials: .connection(and: mirror))
        _ = provider
    }

    @Test static func handsUploadsToAnotherProvider() {
        let uploads = SystemProvider().limiting(RequestLimit(concurrent: 2))
        let provider = SystemProvider().retrying().routing { $0.method == .put ? uploads : nil }
        _ = provider
    }
}
