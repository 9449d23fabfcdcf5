// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTesting
import Testing

@testable import ApiConnector

/// The error of a stream that cannot be resumed, and the events before it.
@Suite(.timeLimit(.minutes(10))) struct ResumeErrorTests {
    private let host = EventHost()
    private let recorder = EventRecorder()
}

extension ResumeErrorTests {
    private func connection(
        _ answers: [TestConnectorResponse]
    ) -> NetworkConnector<AnyProvider, Endpoint<ApiPath>> {
        let rest = Locked(answers[...])
        let provider = TestConnector { _ in rest.withLock { $0.count > 1 ? $0.removeFirst() : $0[$0.startIndex] } }
        return NetworkConnector(
            environment: Place(),
            provider: AnyProvider(provider.observing(by: recorder)),
            configuration: ConnectionConfiguration(timeouts: .unlimited, timeSource: host.clock)
        )
    }

    private func events(_ text: String) -> TestConnectorResponse {
        .data(Data(text.utf8), headers: ["Content-Type": "text/event-stream"])
    }

    @Test func theErrorOfALaterConnectionHasNoHeadOfTheBrokenOne() async throws {
        let api = connection([
            events("id: a\ndata: 1\n\n"), .failure(ApiConnectorError(.cannotConnect, "there is no server")),
        ])
        let found = try await host.read(
            api.stream(of: Int.self, at: Endpoint("/"), as: .events.resuming(host.policy)),
            waiting: 3
        )
        #expect(found.elements == [1])
        #expect(found.error?.kind == .cannotConnect)
        #expect(found.error?.retryStop == .attemptLimit)
        #expect(found.error?.response == nil)
    }

    @Test func theErrorOfAStreamThatTheServerEndsHasItsHead() async throws {
        let api = connection([events("id: a\ndata: 1\n\n"), events("")])
        let found = try await host.read(
            api.stream(of: Int.self, at: Endpoint("/"), as: .events.resuming(host.policy)),
            waiting: 3
        )
        #expect(found.error?.kind == .connectionLost)
        #expect(found.error?.response?.status == 200)
    }

    @Test func observersLearnThatTheRestCannotBeRequested() async throws {
        let id = String(repeating: "i", count: ResumePoint.maximumEventIDByteCount + 1)
        let api = connection([events("id: \(id)\ndata: 1\n\n")])
        let found = try await host.read(
            api.stream(of: Int.self, at: Endpoint("/"), as: .events.resuming(host.policy)),
            waiting: 0
        )
        #expect(found.error?.retryStop == .notResumable)
        #expect(recorder.events.contains { $0.kind.description.hasSuffix("notResumable") }, "\(recorder.texts)")
    }
}
