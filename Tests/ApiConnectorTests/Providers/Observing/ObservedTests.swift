// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

struct ObservedTests {
    private let recorder = EventRecorder()
    private let clock = ManualClock()

    private func connection(
        _ answer: @escaping @Sendable (ApiRequest) async throws -> TestConnectorResponse
    ) -> NetworkConnector<some DataRequestType, Router> {
        NetworkConnector(
            environment: .localhost,
            provider: TestConnector(answer).observing(by: recorder, timeSource: clock),
            configuration: ConnectionConfiguration(timeSource: clock)
        )
    }

    @Test func aCallReportsStartHeadBytesAndFinish() async throws {
        let api = connection { [clock] _ in
            clock.advance(by: .seconds(2))
            return .data(Data("hello".utf8))
        }

        _ = try await api.data(at: .me)

        #expect(
            recorder.texts == [
                "started", "head 200 OK", "5 bytes", "finished: 200 OK after 2.0 seconds, 5 bytes",
            ]
        )
        #expect(Set(recorder.events.map(\.call)).count == 1)
        #expect(recorder.events.map(\.attempt) == [1, 1, 1, 1])
        #expect(recorder.events.map(\.time) == [.zero, .seconds(2), .seconds(2), .seconds(2)])
        #expect(recorder.events.map(\.route) == ["me", "me", "me", "me"])
    }

    @Test func anObserverThatKeepsItsEventsIsReleased() async throws {
        weak var kept: EventRecorder?
        do {
            let recorder = EventRecorder()
            kept = recorder
            let provider = TestConnector { _ in .status(204) }.observing(by: recorder)
            let api = NetworkConnector(environment: .localhost, provider: provider, router: Router.self)
            try await api.send(at: .me)
            #expect(recorder.events.count == 3)
        }
        #expect(kept == nil)
    }

    @Test func everyCallHasItsOwnId() async throws {
        let api = connection { _ in .status(204) }
        _ = try await api.data(at: .me)
        _ = try await api.data(at: .me)
        #expect(recorder.events.count == 6)
        #expect(Set(recorder.events.map(\.call)).count == 2)
    }

    @Test func anEmptyBodyHasNoBytes() async throws {
        try await connection { _ in .status(204) }.send(at: .me)
        #expect(
            recorder.texts == ["started", "head 204 No Content", "finished: 204 No Content after 0.0 seconds, 0 bytes"]
        )
    }

    @Test func aFailureFinishes() async throws {
        let api = connection { _ in throw URLError(.networkConnectionLost) }
        await #expect(throws: ApiConnectorError.self) { try await api.data(at: .me) }
        #expect(recorder.texts == ["started", "finished: connectionLost after 0.0 seconds, 0 bytes"])
    }

    @Test func aStreamedBodyFinishesWithItsLastChunk() async throws {
        let api = connection { _ in .chunks([Data("a\n".utf8), Data("bc\n".utf8)]) }
        var lines: [String] = []
        var counts: [Int] = []
        for try await line in api.stream(at: .me, as: .lines) {
            lines.append(line)
            counts.append(recorder.events.count)
        }
        #expect(lines == ["a", "bc"])
        #expect(counts == [3, 4])
        #expect(
            recorder.texts == [
                "started", "head 200 OK", "2 bytes", "3 bytes", "finished: 200 OK after 0.0 seconds, 5 bytes",
            ]
        )
    }

    @Test func anAbandonedStreamFinishesAtOnce() async throws {
        let api = connection { _ in .chunks([Data("a\n".utf8), Data("bc\n".utf8)]) }
        for try await _ in api.stream(at: .me, as: .lines) { break }
        #expect(
            recorder.texts == [
                "started", "head 200 OK", "2 bytes", "finished: 200 OK, left after 0.0 seconds, 2 bytes",
            ]
        )
    }

    @Test func aStreamThatBreaksOffHasFailed() async throws {
        let api = connection { _ in .chunks([Data("a\n".utf8), Data("b\n".utf8)]).failing(.afterByteCount(2)) }
        let error = await #expect(throws: ApiConnectorError.self) {
            for try await _ in api.stream(at: .me, as: .lines) {}
        }
        #expect(error?.kind == .connectionLost)
        #expect(
            recorder.texts == [
                "started", "head 200 OK", "2 bytes", "finished: connectionLost after 0.0 seconds, 2 bytes",
            ]
        )
    }

    @Test func anUnreadBodyIsReportedAsAbandoned() async throws {
        let provider = TestConnector { _ in .chunks([Data("a".utf8)]) }.observing(by: recorder, timeSource: clock)
        let url = try #require(URL(string: "http://localhost/"))
        _ = try await provider.response(for: ApiRequest(url: url, delivery: .streamed))
        #expect(
            recorder.texts == ["started", "head 200 OK", "finished: 200 OK, left after 0.0 seconds, 0 bytes"]
        )
    }

    @Test(arguments: [false, true])
    func aRedirectIsReportedBetweenTwoHopsOfOneCall(isStreamed: Bool) async throws {
        let api = connection { request in
            if request.url.path() == "/me" {
                return .chunks([Data("moved".utf8)], status: 302, headers: [.location: "/you?token=hush"])
            }
            return .data(Data("you".utf8))
        }

        if isStreamed {
            for try await _ in api.stream(at: .me, as: .lines) {}
        } else {
            _ = try await api.data(at: .me)
        }

        #expect(
            recorder.texts.filter { !$0.hasSuffix(" bytes") || $0.hasPrefix("finished") } == [
                "started", "head 302 Found",
                isStreamed
                    ? "finished: 302 Found, left after 0.0 seconds, 0 bytes"
                    : "finished: 302 Found after 0.0 seconds, 5 bytes",
                "redirected to http://localhost/you?token=REDACTED",
                "started", "head 200 OK", "finished: 200 OK after 0.0 seconds, 3 bytes",
            ]
        )
        #expect(Set(recorder.events.map(\.call)).count == 1)
    }

    @Test func anOuterObserverSeesTheEventsOfInnerProviders() async throws {
        let inner = EventRecorder()
        let provider = TestConnector { request in
            request.url.path() == "/me" ? .status(301, headers: [.location: "/you"]) : .status(200)
        }
        .observing(by: inner, timeSource: clock)
        .observing(by: recorder, timeSource: clock)
        let api = NetworkConnector(environment: .localhost, provider: provider, router: Router.self)

        _ = try await api.data(at: .me)

        #expect(recorder.texts.count == 7)
        #expect(inner.texts == recorder.texts)
        #expect(Set((recorder.events + inner.events).map(\.call)).count == 1)
    }

    @Test func eachHandmadeRequestIsACall() async throws {
        let provider = TestConnector { _ in .status(200) }.observing(by: recorder)
        let request = ApiRequest(url: try #require(URL(string: "http://localhost/")))
        _ = try await provider.response(for: request)
        _ = try await provider.response(for: request)
        #expect(recorder.events.count == 6)
        #expect(Set(recorder.events.map(\.call)).count == 2)
        #expect(recorder.events.first?.route == nil)
    }

    @Test func theIdComesFromTheGivenRandomSource() async throws {
        let provider = TestConnector { _ in .status(200) }.observing(by: recorder, random: { 0 })
        _ = try await provider.response(for: ApiRequest(url: try #require(URL(string: "http://localhost/"))))
        #expect(recorder.events.first?.call.description == "00000000000000000000000000000001")
    }
}
