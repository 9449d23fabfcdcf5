// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

private enum Host: String, ApiEnvironment {
    case test = "calendar.example.com"
}

private struct Meeting: Codable, Hashable {
    var startsAt = Date(timeIntervalSince1970: 1_479_686_400)
}

private enum Calendar: ApiRouter {
    typealias EnvironmentType = Host
    typealias EnvelopeType = DataEnvelope<CodedFailure>

    case add(Meeting)
    case on(Date)

    var path: String { "/meetings" }
    var method: HTTPMethod { if case .add = self { .post } else { .get } }
    var queryItems: ApiQuery { if case .on(let day) = self { ["day": day] } else { .empty } }
    var body: RequestBody { if case .add(let meeting) = self { .json(meeting) } else { .empty } }
}

private struct CalendarConnection<Provider: DataRequestType>: ApiConnectionType {
    typealias RouterType = Calendar

    let environment = Host.test
    let provider: Provider
    let configuration = ConnectionConfiguration(json: JSONCoding(dates: .iso8601, keys: .snakeCase))
}

/// Its key does not come back from snake case: `page_url` is read as `pageUrl`.
private struct Page: Codable, Hashable {
    var pageURL = "/meetings"
}

struct ScriptCodingTests {
    private let meeting = Meeting()

    @Test func aScriptUsesTheCodersOfTheCallingConnection() async throws {
        let script = Script(for: Calendar.self, in: .test)
        let api = CalendarConnection(provider: TestConnector(script))
        script.on(.add(meeting)).answer(meeting).answer(failure: CodedFailure(code: 7, message: "full"))
        script.on(.on(meeting.startsAt)).answer([meeting])
        #expect(try await api.value(Meeting.self, at: .add(meeting)) == meeting)
        #expect(script.requests.first?.url.query() == nil)
        #expect(script.requests.first?.body == Data(#"{"starts_at":"2016-11-21T00:00:00Z"}"#.utf8))
        #expect(try script.requests.first?.json(as: Meeting.self) == meeting)
        let error = await #expect(throws: ApiConnectorError.self) {
            try await api.value(Meeting.self, at: .add(meeting))
        }
        #expect(error?.failure(as: CodedFailure.self)?.code == 7)
        #expect(try await api.value([Meeting].self, at: .on(meeting.startsAt)) == [meeting])
        #expect(await script.end().isEmpty)
    }

    @Test func aHeldValueIsWrittenByTheConnectionsCoders() async throws {
        let script = Script(for: Calendar.self, in: .test)
        let api = CalendarConnection(provider: TestConnector(script))
        let answer = script.on(.add(meeting)).hold()
        async let added = api.value(Meeting.self, at: .add(meeting))
        _ = try await answer.request()
        answer.release(meeting)
        #expect(try await added == meeting)
    }

    @Test func aScriptIsMadeFromAConnection() async throws {
        let script = Script(for: CalendarConnection(provider: TestConnector { _ in .never }))
        let api = CalendarConnection(provider: TestConnector(script))
        script.on(.on(meeting.startsAt), as: Meeting.self)
            .answer(.json(["data": ["starts_at": "2016-11-21T00:00:00Z"]]))
        #expect(try await api.value(Meeting.self, at: .on(meeting.startsAt)) == meeting)
        #expect(await script.end().isEmpty)
    }

    @Test func aBodyThatFoundationsCodersDoNotReadNamesTheConfiguration() throws {
        let script = Script(for: Calendar.self, in: .test)
        script.on(.add(meeting), as: Meeting.self).answer(.json(["data": ["startsAt": "2016-11-21T00:00:00Z"]]))
        let issue = try #require(script.issues.first)
        #expect(issue.kind == .unfit)
        #expect(
            issue.description.hasSuffix(
                "JSONCoding(dates: .iso8601) reads it: make the script with the connection's configuration, "
                    + "Script(for:in:configuration:)."
            )
        )
    }

    @Test func aScriptKeepsItsOwnConfiguration() async throws {
        let script = Script(
            for: Calendar.self,
            in: .test,
            configuration: ConnectionConfiguration(json: JSONCoding(dates: .secondsSince1970, keys: .snakeCase))
        )
        script.on(matching: .method(.post)).answer(meeting)
        let api = CalendarConnection(provider: TestConnector(script))
        let error = await #expect(throws: ApiConnectorError.self) {
            try await api.value(Meeting.self, at: .add(meeting))
        }
        #expect(error?.kind == .decodingFailed)
    }

    @Test func aScriptWithCodersWritesCannedValuesWithThem() async throws {
        let script = Script(for: CalendarConnection(provider: TestConnector { _ in .never }))
        script.on(.add(meeting), as: Meeting.self).answer(.json(["data": meeting]).chunked(byteCount: 3))
        let api = CalendarConnection(provider: TestConnector(script))
        #expect(try await api.value(Meeting.self, at: .add(meeting)) == meeting)
        #expect(await script.end().isEmpty)
    }

    @Test func aConfigurationWithoutCodersLeavesThemToTheConnection() async throws {
        let configuration = ConnectionConfiguration(timeSource: ManualClock())
        let script = Script(for: Calendar.self, in: .test, configuration: configuration)
        script.on(.add(meeting)).answer(meeting)
        let api = CalendarConnection(provider: TestConnector(script))
        #expect(try await api.value(Meeting.self, at: .add(meeting)) == meeting)
        #expect(await script.end().isEmpty)
    }

    @Test func codersConfiguredInPlaceAreTheConnectionsCoders() async throws {
        let configuration = ConnectionConfiguration()
        configuration.encoder.dateEncodingStrategy = .secondsSince1970
        configuration.decoder.dateDecodingStrategy = .secondsSince1970
        let script = Script(for: Calendar.self, in: .test)
        script.on(.add(meeting)).answer(meeting)
        let api = NetworkConnector(
            environment: .test,
            provider: TestConnector(script),
            router: Calendar.self,
            configuration: configuration
        )
        #expect(try await api.value(Meeting.self, at: .add(meeting)) == meeting)
        #expect(await script.end().isEmpty)
    }

    @Test func aValueThatDoesNotFitTheConnectionsCodersIsAnIssueAtItsAnswer() async throws {
        let script = Script(for: Calendar.self, in: .test)
        let line = UInt(#line + 1)
        script.on(.add(meeting)).answer(Page())
        let (encoder, decoder) = (JSONEncoder(), JSONDecoder())
        encoder.keyEncodingStrategy = .convertToSnakeCase
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let api = NetworkConnector<TestConnector<Script<Calendar>>, Calendar>(
            environment: .test,
            provider: TestConnector(script),
            configuration: ConnectionConfiguration(encoder: encoder, decoder: decoder)
        )
        let error = await #expect(throws: ApiConnectorError.self) {
            try await api.value(Page.self, at: .add(meeting))
        }
        #expect(error?.kind == .unmatched)
        let issues = await script.end()
        #expect(issues.map(\.kind) == [.unfit])
        #expect(issues.map(\.place.line) == [line])
        #expect(issues.first?.description.contains("with the connection's coders, ") == true)
    }

    @Test func aCannedValueKeepsItsShape() async throws {
        let api = CalendarConnection(
            provider: TestConnector { _ in .json(["data": Meeting()]).chunked(byteCount: 3) }
        )
        #expect(try await api.value(Meeting.self, at: .add(meeting)) == meeting)
    }

    @Test func anAnswersOwnEncoderTakesPrecedence() async throws {
        let api = CalendarConnection(
            provider: TestConnector { _ in .json([Meeting()], encoder: JSONEncoder()) }
        )
        let body = try await api.data(at: .add(meeting))
        #expect(try JSONDecoder().decode([Meeting].self, from: body) == [meeting])
    }
}
