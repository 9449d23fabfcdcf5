// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import Testing

/// Streams that are not accepted, and whose bodies do not end.
@Suite(.timeLimit(.minutes(10))) struct RefusedStreamTests {
    private let clock = ManualClock()
    private let feed = BodyFeed()
    private let asked = Gate("the request")
}

extension RefusedStreamTests {
    /// Starts to read a feed's events.
    private func reading(
        type: String,
        status: HTTPStatus = 200,
        fields: HTTPHeaders = HTTPHeaders(),
        _ timeouts: Timeouts = .unlimited,
        validation: ResponseValidation = .standard
    ) -> Task<Result<[String], ApiConnectorError>, Never> {
        let provider = TestConnector { [feed, asked] _ in
            asked.open()
            return .feed(feed, status: status, headers: fields.merging([.contentType: type]))
        }
        let api = NetworkConnector(
            environment: Place(),
            provider: provider,
            router: Endpoint<ApiPath>.self,
            configuration: ConnectionConfiguration(validation: validation, timeouts: timeouts, timeSource: clock)
        )
        return Task {
            var data: [String] = []
            do throws(ApiConnectorError) {
                let stream = api.stream(of: ServerSentEvent.self, at: Endpoint("/feed"), as: .events)
                for try await event in stream { data.append(event.data) }
                return .success(data)
            } catch {
                return .failure(error)
            }
        }
    }

    private func failure(of reading: Task<Result<[String], ApiConnectorError>, Never>) async throws -> ApiConnectorError
    {
        let result = await reading.value
        return try #require(throws: ApiConnectorError.self) { try result.get() }
    }

    @Test(arguments: [
        (200, "text/plain", ApiConnectorError.Kind.unacceptableMediaType),
        (500, "text/event-stream", .unacceptableStatus),
    ])
    func failWithTheBytesOfTheFirstSecond(_ status: Int, _ type: String, _ kind: ApiConnectorError.Kind) async throws {
        let reading = reading(type: type, status: HTTPStatus(rawValue: status))
        try await feed.send(Data("first ".utf8))
        try await feed.send(Data("second".utf8))
        try await clock.step(.seconds(1))
        let error = try await failure(of: reading)
        #expect(error.kind == kind)
        #expect(error.response?.bodyPrefix == "first second")
        // The reader has stopped.
        await #expect(throws: (any Error).self) { try await feed.send(Data("third".utf8)) }
    }

    @Test func failEvenIfNoByteArrives() async throws {
        let reading = reading(type: "text/plain")
        try await asked.opened()
        try await clock.step(.seconds(1))
        #expect(try await failure(of: reading).kind == .unacceptableMediaType)
    }

    @Test func failDespiteKeepAlivesOfTheServer() async throws {
        let reading = reading(type: "text/plain", Timeouts(stall: .seconds(30)))
        for _ in 0..<3 {
            try await feed.send(Data(": alive\n".utf8))
            clock.advance(by: .milliseconds(300))
        }
        clock.advance(by: .milliseconds(100))
        #expect(try await failure(of: reading).kind == .unacceptableMediaType)
    }

    @Test func waitForAnErrorWhoseLengthIsKnown() async throws {
        let reading = reading(type: "application/json", status: 500, fields: ["Content-Length": "13"])
        try await feed.send(Data(#"{"why":"#.utf8))
        clock.advance(by: .seconds(20))
        try await feed.send(Data(#""bad"}"#.utf8))
        feed.finish()
        let error = try await failure(of: reading)
        #expect(error.kind == .unacceptableStatus)
        #expect(error.response?.bodyPrefix == #"{"why":"bad"}"#)
    }

    @Test func areAcceptedIfAnotherTypeHasNoBody() async throws {
        let reading = reading(type: "text/plain")
        feed.finish()
        #expect(try await reading.value.get() == [])
    }

    @Test func endAtOnceWithTheirTask() async throws {
        let reading = reading(type: "text/plain", status: 500)
        try await feed.send(Data("first".utf8))
        reading.cancel()
        #expect(try await failure(of: reading).kind == .cancelled)
    }

    @Test func endAtTheDeadlineOfTheirCall() async throws {
        let reading = reading(
            type: "text/plain",
            status: 500,
            Timeouts(stall: Timeouts.noLimit, overall: .milliseconds(500))
        )
        try await feed.send(Data("first".utf8))
        clock.advance(by: .milliseconds(500))
        #expect(try await failure(of: reading).kind == .deadlineExceeded)
    }

    @Test func areValidatedByAClosureWithTheirFirstChunk() async throws {
        let validation = ResponseValidation { (response, body) throws(ApiConnectorError) in
            guard body.starts(with: Data("data".utf8)) else {
                throw ApiConnectorError(.unacceptableStatus, at: .validation, "no", response: response, body: body)
            }
        }
        let reading = reading(type: "text/event-stream", validation: validation)
        try await feed.send(Data("data: 1\n\n".utf8))
        try await feed.send(Data("data: 2\n\n".utf8))
        feed.finish()
        #expect(try await reading.value.get() == ["1", "2"])
    }
}
