// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

private enum Wrapped: ApiRouter {
    typealias EnvironmentType = ShopServer
    typealias EnvelopeType = DataEnvelope<CodedFailure>
    case tea
    var path: String { "/tea" }
}

private enum Bare: ApiRouter {
    typealias EnvironmentType = ShopServer
    typealias EnvelopeType = BareEnvelope<CodedFailure>
    case tea
    var path: String { "/tea" }
}

private enum Own: ApiRouter {
    typealias EnvironmentType = ShopServer
    typealias EnvelopeType = OwnEnvelope
    case tea
    var path: String { "/tea" }
}

private enum OwnEnvelope: ApiEnvelope {
    struct Content<Value: Decodable>: Decodable {
        let result: Value
    }

    static func open<Value: Decodable>(
        _ type: Value.Type,
        from body: Data,
        with decoder: JSONDecoder
    ) throws -> EnvelopeContent<Value, NoFailure> {
        .value(try decoder.decode(Content<Value>.self, from: body).result)
    }

    static func failure(in body: Data, with decoder: JSONDecoder) -> NoFailure? { nil }
}

/// It writes a key that it does not read.
private struct Lopsided: Codable {
    let name: String

    init(name: String) { self.name = name }

    init(from decoder: any Decoder) throws {
        name = try decoder.container(keyedBy: Keys.self).decode(String.self, forKey: .name)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        try container.encode(name, forKey: .title)
    }

    enum Keys: CodingKey { case name, title }
}

struct CannedValueTests {
    @Test func aValueIsInTheRoutersEnvelope() async throws {
        let script = Script(for: Wrapped.self, in: .test)
        script.on(.tea).answer(Tea.green).answer(failure: CodedFailure(code: 7, message: "sold out"))
        let api = NetworkConnector(environment: .test, provider: TestConnector(script), router: Wrapped.self)
        #expect(try await api.value(Tea.self, at: .tea) == .green)
        let error = await #expect(throws: ApiConnectorError.self) { try await api.value(Tea.self, at: .tea) }
        #expect(error?.failure(as: CodedFailure.self) == CodedFailure(code: 7, message: "sold out"))
        #expect(await script.end().isEmpty)
    }

    @Test func aFailureHasAStatusThatTheEnvelopeReadsAsAFailure() async throws {
        let failure = CodedFailure(code: 7, message: "sold out")
        let script = Script(for: Bare.self, in: .test)
        script.on(.tea).answer(failure: failure).answer(failure: failure, status: 409)
        let api = NetworkConnector(environment: .test, provider: TestConnector(script), router: Bare.self)
        for status: HTTPStatus in [400, 409] {
            let error = await #expect(throws: ApiConnectorError.self) { try await api.value(Tea.self, at: .tea) }
            #expect(error?.failure(as: CodedFailure.self) == failure)
            #expect(error?.response?.status == status)
        }
        #expect(await script.end().isEmpty)
    }

    @Test func aHeldAnswerIsReleasedAsTheBackendsOwnError() async throws {
        let failure = CodedFailure(code: 7, message: "sold out")
        let script = Script(for: Bare.self, in: .test)
        let answer = script.on(.tea).hold()
        let api = NetworkConnector(environment: .test, provider: TestConnector(script), router: Bare.self)
        let call = Task { try await api.value(Tea.self, at: .tea) }
        _ = try await answer.request()
        answer.release(failure: failure)
        let error = await #expect(throws: ApiConnectorError.self) { try await call.value }
        #expect(error?.failure(as: CodedFailure.self) == failure)
        #expect(await script.end().isEmpty)
    }

    @Test func aFailureWithAStatusThatMakesItAValueIsAnIssue() throws {
        let script = Script(for: Bare.self, in: .test)
        script.on(.tea).answer(failure: CodedFailure(code: 7, message: "sold out"), status: 200)
        let issue = try #require(script.issues.first)
        #expect(issue.kind == .unfit)
        #expect(
            issue.description.hasSuffix(
                "BareEnvelope<CodedFailure> decodes the body of a 200 as a value; leave the "
                    + "status out, or give an error "
                    + "status."
            ),
            "\(issue)"
        )
    }

    @Test func aValueIsEncodedWithTheConnectionsEncoder() async throws {
        let encoder = JSONEncoder()
        let decoder = JSONDecoder()
        encoder.dateEncodingStrategy = .iso8601
        decoder.dateDecodingStrategy = .iso8601
        let configuration = ConnectionConfiguration(encoder: encoder, decoder: decoder)
        let script = Script(for: Shop.self, in: .test, configuration: configuration)
        script.on(.tea(id: 1)).answer([Date(timeIntervalSince1970: 0)])
        #expect(try await script.connection().data(at: .tea(id: 1)) == Data(#"["1970-01-01T00:00:00Z"]"#.utf8))
    }

    @Test func aValueThatDoesNotDecodeAgainIsAnIssueAtItsLine() async throws {
        let script = Script(for: Shop.self, in: .test)
        let line = #line + 1
        script.on(.tea(id: 1)).answer(Lopsided(name: "green"))
        let issue = try #require(script.issues.first)
        #expect(issue.kind == .unfit)
        #expect(issue.place.line == line)
        #expect(
            issue.description == "The answer declared at \(place(line)) does not fit "
                + "GET https://shop.example.com/teas/1: the value does not decode as Lopsided: at the top level "
                + "the key \"name\" is missing; found {\"title\":\"green\"}."
        )
        let error = await #expect(throws: ApiConnectorError.self) {
            try await script.connection().data(at: .tea(id: 1))
        }
        #expect(error?.kind == .unmatched)
    }

    @Test func aCannedBodyThatDoesNotDecodeForItsRouteIsAnIssue() throws {
        let script = Script(for: Shop.self, in: .test)
        let line = #line + 1
        script.on(.teas(page: 1), as: [Tea].self).answer(.json(Tea.green))
        #expect(
            script.issues.map(\.description) == [
                "The answer declared at \(place(line)) does not fit GET https://shop.example.com/teas?page=1: the "
                    + "value does not decode as Array<Tea>: at the top level an array was expected; found "
                    + "{\"id\":1,\"name\":\"green\"}."
            ]
        )
    }

    /// It would be taken for the failure that a program under test has to survive.
    @Test(arguments: [
        TestConnectorResponse.file(URL(filePath: "missing-tea.json")),
        .file(URL(filePath: "missing-tea.json")).after(.seconds(1), on: ManualClock()).chunked(byteCount: 1),
        .file(URL(filePath: "missing-tea.json")).failing(.beforeHead),
        .json(Double.nan),
    ])
    func anAnswerThatCannotBeMadeIsAnIssue(_ answer: TestConnectorResponse) async throws {
        let script = Script(for: Shop.self, in: .test)
        script.on(.tea(id: 1)).answer(answer)
        #expect(script.issues.map(\.kind) == [.unfit])
        _ = try? await script.connection().data(at: .tea(id: 1))
        #expect(await script.end().map(\.kind) == [.unfit])
    }

    @Test(arguments: [
        TestConnectorResponse.json(Tea.green).chunked(byteCount: 3),
        .json(Tea.green).chunked(byteCount: 3).pausing(.seconds(1), on: ManualClock()),
    ])
    func aBodyInPartsIsCheckedToo(_ answer: TestConnectorResponse) {
        let script = Script(for: Shop.self, in: .test)
        script.on(.teas(page: 1), as: [Tea].self).answer(answer).answer(.json([Tea.green]).chunked(byteCount: 3))
        #expect(script.issues.map(\.kind) == [.unfit])
    }

    @Test func aBodyThatBreaksOffIsNotChecked() {
        let script = Script(for: Shop.self, in: .test)
        script.on(.teas(page: 1), as: [Tea].self).answer(.json([Tea.green]).failing(.afterByteCount(4)))
        #expect(script.issues.isEmpty)
    }

    @Test func aComputedAnswerIsCheckedWhenItIsMade() async throws {
        let script = Script(for: Shop.self, in: .test)
        let line = #line + 1
        script.on(.teas(page: 1), as: [Tea].self).answer(times: 2) { request in
            request.number == 1 ? .json([Tea.green]) : .json(Tea.green)
        }
        let shop = script.connection()
        #expect(try await shop.value([Tea].self, at: .teas(page: 1)) == [.green])
        #expect(script.issues.isEmpty)
        let error = await #expect(throws: ApiConnectorError.self) { try await shop.data(at: .teas(page: 1)) }
        #expect(error?.kind == .unmatched)
        let issues = await script.end()
        #expect(issues.map(\.kind) == [.unfit])
        #expect(issues.first.map { Int($0.place.line) } == line)
    }

    @Test func aHeldAnswerIsCheckedWhenItIsReleased() async throws {
        let script = Script(for: Shop.self, in: .test)
        let held = script.on(.teas(page: 1), as: [Tea].self).hold()
        held.release(.json(Tea.green))
        #expect(script.issues.map(\.kind) == [.unfit])
        _ = try? await script.connection().data(at: .teas(page: 1))
        #expect(await script.end().map(\.kind) == [.unfit])
    }

    @Test func anErrorsBodyIsNotCheckedAgainstTheValue() {
        let script = Script(for: Shop.self, in: .test)
        script.on(.teas(page: 1), as: [Tea].self).answer(.json(["sorry": true], status: 500), times: .anyNumber)
        #expect(script.issues.isEmpty)
    }

    @Test func anEnvelopeThatCannotBeWrittenSaysWhatToDo() {
        let script = Script(for: Own.self, in: .test)
        let line = #line + 1
        script.on(.tea).answer(Tea.green, times: .anyNumber)
        #expect(
            script.issues.map(\.description) == [
                "The answer declared at \(place(line)) does not fit GET https://shop.example.com/tea: "
                    + "OwnEnvelope finds no Tea in {\"id\":1,\"name\":\"green\"}; "
                    + "make OwnEnvelope a CannedEnvelope, or give the whole body as .json(…)."
            ]
        )
    }
}
