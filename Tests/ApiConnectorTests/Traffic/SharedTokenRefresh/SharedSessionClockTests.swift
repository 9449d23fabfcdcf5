// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnectorTesting
import Testing

@testable import ApiConnector
@testable import ApiConnectorTraffic

/// Instances of one session whose clocks differ.
@Suite(.timeLimit(.minutes(10))) struct SharedSessionClockTests {
    private let clock = ManualClock()
    private let server = RotatingServer()
    private let state: MemorySharedState

    init() {
        state = MemorySharedState(timeSource: clock)
    }
}

extension SharedSessionClockTests {
    private typealias Tokens = SharedTokensOfTest

    private func instance(_ clock: ManualClock) -> SharedSession<Tokens> {
        SharedSession(named: "a", in: state, storage: .sealed(by: { $0 }, opened: { $0 }), timeSource: clock)
    }

    /// The connection of an instance; the tokens of the server are valid for an hour.
    private func connection(_ clock: ManualClock) -> NetworkConnector<AnyProvider, Router> {
        let credentials = RefreshableCredentials(sharing: instance(clock), timeSource: clock) { tokens in
            tokens.credential
        } refreshing: { [server, serverClock = self.clock] old in
            var new = server.refresh(old)
            new.expiry = serverClock.date.addingTimeInterval(3600)
            return new
        }
        return server.provider.authenticating(by: credentials).connected(on: clock)
    }

    @Test(arguments: [-7200, 7200]) func oneExpiryCausesOneRefreshIfAClockIsWrong(_ skew: Double) async throws {
        let wrong = ManualClock(date: clock.date.addingTimeInterval(skew))
        let (one, other) = (connection(clock), connection(wrong))
        // Nobody is signed in, so the first call refreshes.
        for expiryCount in 0..<5 {
            for _ in 0..<4 {
                #expect(try await one.string(at: .me) == "welcome")
                #expect(try await other.string(at: .me) == "welcome")
            }
            // An instance that does not know yet that its clock is ahead refreshes one more time.
            let most = expiryCount + (skew > 0 ? 2 : 1)
            #expect(server.used.count <= most, "\(server.used)")
            clock.advance(by: .seconds(3600))
            wrong.advance(by: .seconds(3600))
        }
        #expect(!server.isRevoked)
    }

    @Test func aSessionThatIsStoredDuringARefreshIsUsedEvenIfItSeemsExpired() async throws {
        let ahead = ManualClock(date: clock.date.addingTimeInterval(7200))
        try await instance(clock).signIn(Tokens(refresh: 1))
        let (one, other) = (instance(clock), instance(ahead))
        for instance in [one, other] { _ = try await instance.refreshed { [server] in server.refresh($0) } }
        let (gate, arrived) = (Gate(), Gate())
        let refresh = Task { [server] in
            try await one.refreshed { old in
                arrived.open()
                try await gate.opened()
                return server.refresh(old)
            }
        }
        try await arrived.opened()
        let wait = Task { [server] in
            try await other.refreshed(where: { _ in false }, by: { server.refresh($0) })
        }
        while try await ahead.nextSleep() != .milliseconds(50) {}
        gate.open()
        #expect(try await refresh.value == Tokens(refresh: 2))
        ahead.advance(by: .milliseconds(50))
        #expect(try await wait.value == Tokens(refresh: 2))
        #expect(server.used == [1])
    }
}
