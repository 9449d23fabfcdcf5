// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Backends
import DemoServer
import Foundation
import Testing
import Walkthrough

/// Tests of `demo inspect` and its traffic.
struct InspectTests {
    @Test func theTrafficTakesPlaceExceptForTheSimulatedPhases() async throws {
        let archive = ExchangeArchive()
        let provider = SystemProvider().simulatingSlowPhases(lasting: .zero).archived(in: archive)
        try await DemoServer.run { url in
            let location = try #require(ServerLocation(url))
            await InspectedTraffic(provider: provider, delay: .zero).run(on: location)
        }
        let lines = archive.exchanges.map { exchange in
            let path = URL(string: exchange.url)?.path() ?? exchange.url
            let result = exchange.failure == nil ? exchange.status?.rawValue.description : "failed"
            return "\(exchange.method) \(path) \(result ?? "none")"
        }
        let expected = [
            "GET /tea/menu 200", "GET /simulated/slowName 200", "GET /simulated/slowTLS 200", "GET /tea/slow 200",
            "GET /tea/busy 503", "GET /tea/busy 503", "GET /tea/busy 200", "GET /tea/old 302", "GET /tea/new 200",
            "GET /tea/missing 404", "GET /tea/lost failed", "GET /tea/lost failed", "GET /tea/lost failed",
            "POST /orders/orders 201", "GET /feed/comments 200", "GET /feed/comments 200", "GET /feed/comments 200",
            "GET /feed/comments 204",
        ]
        #expect(lines == expected)
        #expect(Set(archive.exchanges.map(\.call)).count == 10)
        for exchange in archive.exchanges where exchange.url.contains("/simulated/") {
            #expect(exchange.times?.remoteAddress == "203.0.113.7", "\(exchange.url)")
        }
        #if os(Linux)
        for exchange in archive.exchanges where !exchange.url.contains("/simulated/") {
            #expect(exchange.times?.remoteAddress == "127.0.0.1", "\(exchange.url)")
        }
        #endif
    }

    @Test(.enabled(if: DemoProgram.isBuilt))
    func aSingleRunPrintsTheAddressAndWhatThePageLists() async throws {
        let program = try LaunchedProgram(DemoProgram.url.path, arguments: ["inspect", "--once"])
        let lines = await program.rest()
        #expect(await program.end() == 0)
        #expect(lines.first?.hasPrefix("The page is at http://127.0.0.1:") == true, "\(lines)")
        let list =
            "The page lists 18 exchanges of 10 calls: "
            + "200 × 9, 201 × 1, 204 × 1, 302 × 1, 404 × 1, 503 × 2, failed × 3."
        #expect(lines.last == list)
    }
}
