// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import Testing

/// Plays each fixture of ``HostileFixture/all`` to each transport, beside a healthy call over the same provider.
struct HostileTests {
    #if Curl && os(Linux)
    @Test(arguments: HostileFixture.overCurl) func endsAsTheTableSaysCollected(_ fixture: HostileFixture) async throws {
        try await play(fixture, over: .curlCollected)
    }

    @Test(arguments: HostileFixture.overCurl) func endsAsTheTableSaysStreamed(_ fixture: HostileFixture) async throws {
        try await play(fixture, over: .curlStreamed)
    }
    #endif

    // The table has what Foundation on Linux does.
    #if canImport(FoundationNetworking)
    @Test(
        .enabled(if: playsTablesOverURLSession, "M14: Foundation ends the process over this libcurl"),
        arguments: HostileFixture.all
    ) func endsAsTheTableSaysOverURLSession(_ fixture: HostileFixture) async throws {
        try await play(fixture, over: .urlSession)
    }
    #endif

    private func play(_ fixture: HostileFixture, over transport: HostileTransport) async throws {
        let expected = fixture.outcome(over: transport)
        if case .skipped = expected { return }
        let playing = Gate("hostile response")
        let hostile = try LoopbackServer.hostile(fixture, playing: playing)
        let provider = transport.provider(fixture.version)
        let healthy = try (0..<3).map { _ in try LoopbackServer.healthy(fixture.version) }
        let healthyOutcome = HostileFixture.Outcome.response(200, "ok")

        // After the first call, the transport has all the objects that it reuses.
        #expect(await transport.outcome(of: healthy[0].url(), over: provider) == healthyOutcome)
        async let outcome = transport.outcome(of: hostile.url(), over: provider)
        try await playing.opened()
        #expect(await transport.outcome(of: healthy[1].url(), over: provider) == healthyOutcome)
        let actual = await outcome
        if expected != .unstable { #expect(actual == expected) }
        #expect(await transport.outcome(of: healthy[2].url(), over: provider) == healthyOutcome)
        // In release a server would end with its last use, which is before the call.
        withExtendedLifetime((healthy, hostile)) {}
    }

    @Test func namesAreUnique() {
        let names = HostileFixture.all.map(\.name)
        #expect(!names.isEmpty)
        #expect(Set(names).count == names.count)
        #expect(FoundationChange.names(in: HostileFixture.foundationChanges).isSubset(of: names))
    }
}
