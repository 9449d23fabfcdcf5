// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import Foundation
import Testing

/// Bytes that wait in a socket count before a time limit ends a call: a process that was suspended has not read them.
@Suite(.timeLimit(.minutes(10))) struct CurlSuspensionTests {}

extension CurlSuspensionTests {
    /// The bytes that the loop's thread has not read when the limit is reached.
    enum Pending: CaseIterable {
        case wholeResponse, chunkOfTheBody
    }

    private static func connection(
        _ limit: LateLimit,
        _ clock: SynchronousClock
    ) -> NetworkConnector<CurlProvider, Router> {
        NetworkConnector(
            environment: .localhost,
            provider: CurlProvider(configuration: .patient),
            configuration: ConnectionConfiguration(timeouts: limit.timeouts, timeSource: clock)
        )
    }

    /// The loop's thread stands still, as it does in a suspended process, while the server answers and time passes.
    @Test(arguments: Pending.allCases, LateLimit.allCases)
    func bytesWaitingInTheSocketCountBeforeALimit(_ pending: Pending, _ limit: LateLimit) async throws {
        let stage = Stage()
        let server = try LoopbackServer { connection in
            guard let request = try connection.readRequest() else { return }
            if request.target == "/other" {
                try connection.wait(for: stage.otherWaits)
                return try connection.send(.text("other"), answering: request)
            }
            let head = Data("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n".utf8)
            if pending == .chunkOfTheBody { try connection.send(head + Data("ab".utf8)) }
            stage.isHalfSent.open()
            try connection.wait(for: stage.loopStands)
            try connection.send(pending == .chunkOfTheBody ? Data("cd".utf8) : head + Data("abcd".utf8))
            try connection.waitUntilDelivered()
            stage.isDelivered.open()
            try connection.waitUntilPeerCloses()
        }
        let clock = SynchronousClock()
        let api = Self.connection(limit, clock)
        let url = server.url()
        let call = Task { try await api.data(at: url) }
        try await stage.isHalfSent.opened()
        // Its answer arrives on the loop's thread, which then waits.
        let other = Task(executorPreference: InlineExecutor()) {
            _ = try await api.provider.response(for: ApiRequest(url: server.url("/other")))
            stage.loopStands.open()
            stage.stand()
        }
        // The task has run on this thread until it waited.
        stage.otherWaits.open()
        try await stage.isDelivered.opened()
        // The limit's action runs within this call.
        clock.advance(to: .seconds(60))
        stage.mayGoOn.signal()
        #expect(try await call.value == Data("abcd".utf8))
        try await other.value
    }

    /// Where nothing waits, the call ends at once, without another wait.
    @Test(arguments: LateLimit.allCases)
    func aLimitEndsACallOverASocketWithoutBytes(_ limit: LateLimit) async throws {
        let received = Gate()
        let server = try LoopbackServer { connection in
            guard try connection.readRequest() != nil else { return }
            received.open()
            try connection.waitUntilPeerCloses()
        }
        let clock = SynchronousClock()
        let api = Self.connection(limit, clock)
        let url = server.url()
        let call = Task { try await api.data(at: url) }
        try await received.opened()
        clock.advance(to: .seconds(60))
        let result = await call.result
        let error = try #require(throws: ApiConnectorError.self) { try result.get() }
        #expect(error.kind == limit.kind)
    }

    private struct Stage {
        let isHalfSent = Gate()
        let otherWaits = Gate()
        let loopStands = Gate()
        let isDelivered = Gate()
        let mayGoOn = DispatchSemaphore(value: 0)

        func stand() { mayGoOn.wait() }
    }
}
#endif
