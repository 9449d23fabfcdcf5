// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import Testing

/// Calls that come one by one, which start on their caller's thread.
struct CurlLoneCallTests {
    /// The loop sleeps without an end until such a call tells it of libcurl's timer.
    @Test(.timeLimit(.minutes(10))) func failsWhenNoConnectionIsMadeInTime() async throws {
        let backlog = try FullBacklog()
        var configuration = CurlConfiguration.patient
        configuration.connectTimeout = .milliseconds(100)
        let provider = CurlProvider(configuration: configuration)
        for _ in 0..<3 {
            let error = await #expect(throws: ApiConnectorError.self) {
                try await provider.response(for: ApiRequest(url: backlog.url))
            }
            #expect(error?.kind == .cannotConnect)
        }
    }

    /// The executor runs what a turn of the loop answers right there, within the turn.
    @Test func mayStartFromAContinuationOfAnotherCall() async throws {
        let server = try LoopbackServer.responding { _ in .text("ok") }
        let provider = CurlProvider(configuration: .patient)
        try await withTaskExecutorPreference(InlineExecutor()) {
            for _ in 0..<20 {
                // The head of a stream is answered while the loop reads from its socket.
                let stream = try await provider.response(for: ApiRequest(url: server.url(), delivery: .streamed))
                let other = try await provider.response(for: ApiRequest(url: server.url()))
                #expect(other.status == 200)
                #expect(try await stream.body.collect(upTo: 100) == Data("ok".utf8))
            }
        }
    }

    @Test func mayBeCanceledAndReleasedAtAnyMoment() async throws {
        let server = try LoopbackServer.responding { _ in .text("ok") }
        let url = server.url()
        for number in 0..<100 {
            let provider = CurlProvider(configuration: .patient)
            let call = Task { try await provider.response(for: ApiRequest(url: url)).status }
            for _ in 0..<(number % 40) { await Task.yield() }
            call.cancel()
            switch await call.result {
            case .success(let status): #expect(status == 200)
            case .failure(let error): #expect((error as? ApiConnectorError)?.kind == .cancelled)
            }
        }
    }

    @TaskLocal private static var mark = "none"

    /// Alone or beside another, which decides on whose thread it starts.
    @Test func givesItsBodysSourceTheCallersTaskLocalValues() async throws {
        let gate = Gate("other")
        let server = try LoopbackServer { connection in
            while let request = try connection.readRequest() {
                if request.target == "/held" { try connection.wait(for: gate) }
                try connection.send(.status(204), answering: request)
            }
        }
        let provider = CurlProvider(configuration: .patient)
        let seen = Locked<[String]>([])
        let put = ApiRequest(
            url: server.url(),
            method: .put,
            body: .stream {
                AsyncStream { continuation in
                    seen.withLock { $0.append(Self.mark) }
                    continuation.yield(Data("x".utf8))
                    continuation.finish()
                }
            }
        )
        try await Self.$mark.withValue("caller") {
            _ = try await provider.response(for: put)
            async let held = provider.response(for: ApiRequest(url: server.url("/held")))
            _ = try await provider.response(for: put)
            gate.open()
            _ = try await held
        }
        #expect(seen.withLock { $0 } == ["caller", "caller"])
    }
}
#endif
