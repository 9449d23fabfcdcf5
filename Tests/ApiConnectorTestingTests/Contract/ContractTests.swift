// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorRecording
import ApiConnectorContracts
import ApiConnector
import ApiConnectorTesting
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ContractTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }
}

extension ContractTests {
    private var file: URL { folder.file("shop.har") }

    /// The backend's real responses to routes.
    private func record(_ answers: [(Shop, TestConnectorResponse)]) async throws -> Contract {
        let recorder = try Recorder(file, mode: .record)
        let script = Script(for: Shop.self, in: .test)
        for (route, answer) in answers { script.on(route).answer(answer) }
        let shop = NetworkConnector(
            environment: .test,
            provider: TestConnector(script).recording(by: recorder),
            router: Shop.self
        )
        for (route, _) in answers { _ = try? await shop.data(at: route) }
        try recorder.save()
        return Contract(try Recording(contentsOf: file))
    }

    private func json(_ text: String, _ status: HTTPStatus = 200) -> TestConnectorResponse {
        .data(Data(text.utf8), status: status, headers: ["Content-Type": "application/json"])
    }

    /// Requests one canned response.
    private func canned(_ route: Shop, _ answer: TestConnectorResponse, _ contract: Contract) async throws {
        let script = Script(for: Shop.self, in: .test)
        script.on(route).answer(answer)
        _ = try? await script.connection().data(at: route)
        contract.check(script)
    }

    @Test func aBodyOfTheSameShapeHasNoIssue() async throws {
        let contract = try await record([
            (.tea(id: 1), json(#"{"id":1,"name":"green","origin":null,"cups":[{"size":1}]}"#)),
            (.tea(id: 2), json(#"{"id":2,"name":"black","origin":"Assam","cups":[]}"#)),
        ])
        try await canned(.tea(id: 77), json(#"{"id":77,"name":"x","origin":"y","cups":[{"size":3}]}"#), contract)
        #expect(contract.issues.isEmpty)
    }

    @Test func listsFieldsThatWereNeverRecordedAndFieldsThatAreMissing() async throws {
        let contract = try await record([
            (.tea(id: 1), json(#"{"id":1,"name":"green","cups":[{"size":1,"price":2}],"note":"a"}"#)),
            (.tea(id: 2), json(#"{"id":2,"name":"black","cups":[]}"#)),
        ])
        let script = Script(for: Shop.self, in: .test)
        let line = #line + 1
        script.on(.tea(id: 3)).answer(json(#"{"id":"3","title":"x","cups":[{"size":1,"sugar":true}]}"#))
        _ = try await script.connection().data(at: .tea(id: 3))
        contract.check(script)

        #expect(
            contract.issues.map(\.description) == [
                "GET /teas/{}, cups[].sugar: it is canned, but was never recorded in shop.har.",
                "GET /teas/{}, id: string is canned, but number was recorded in shop.har.",
                "GET /teas/{}, title: it is canned, but was never recorded in shop.har.",
                "GET /teas/{}: cups[].price, name: in every body in shop.har, but in no canned body.",
            ]
        )
        #expect(contract.issues.allSatisfy { $0.kind == .drifted && $0.place.description == place(line) })
    }

    @Test func aFieldIsMissingOnlyIfNoTestHasIt() async throws {
        let contract = try await record([(.tea(id: 1), json(#"{"id":1,"name":"green"}"#))])
        try await canned(.tea(id: 1), json(#"{"id":1}"#), contract)
        #expect(contract.issues.count == 1)
        try await canned(.tea(id: 2), json(#"{"name":"x"}"#), contract)
        #expect(contract.issues.isEmpty)
    }

    @Test func aRouteThatWasNeverRecordedIsAnIssue() async throws {
        let contract = try await record([(.tea(id: 1), json(#"{"id":1}"#))])
        try await canned(.add(.green), json(#"{"id":1}"#, 201), contract)
        #expect(contract.issues.map(\.description) == ["POST /teas is canned, but shop.har has no body for it."])
    }

    @Test func failuresAreComparedByStatus() async throws {
        let contract = try await record([
            (.tea(id: 1), json(#"{"id":1}"#)), (.tea(id: 2), json(#"{"error":"gone"}"#, 404)),
        ])
        try await canned(.tea(id: 1), json(#"{"id":1}"#), contract)
        try await canned(.tea(id: 3), json(#"{"message":"gone"}"#, 404), contract)
        try await canned(.tea(id: 4), json(#"{"anything":1}"#, 503), contract)
        #expect(
            contract.issues.map(\.description) == [
                "GET /teas/{} with status 404, message: it is canned, but was never recorded in shop.har.",
                "GET /teas/{} with status 404: error: in every body in shop.har, but in no canned body.",
            ]
        )
    }

    @Test func aValueIsComparedAsTheConnectionsCodersWriteIt() async throws {
        struct Cup: Codable { var cupSize = 1 }
        let contract = try await record([(.tea(id: 1), json(#"{"cup_size":1}"#))])
        let script = Script(for: Shop.self, in: .test)
        script.on(.tea(id: 3)).answer(Cup())
        let configuration = ConnectionConfiguration(json: JSONCoding(keys: .snakeCase))
        _ = try await script.connection(configuration).data(at: .tea(id: 3))
        contract.check(script)
        #expect(contract.issues.isEmpty)
    }

    @Test func ignoredFieldsAreNotCompared() async throws {
        _ = try await record([(.tea(id: 1), json(#"{"id":1,"extra":{"a":1}}"#))])
        let contract = Contract(try Recording(contentsOf: file), ignoring: ["extra", "debug"])
        try await canned(.tea(id: 1), json(#"{"id":1,"extra":{"b":2},"debug":{"c":3}}"#), contract)
        #expect(contract.issues.isEmpty)
    }
}
