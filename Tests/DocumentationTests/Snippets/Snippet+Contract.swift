// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorContracts
import ApiConnector
import ApiConnectorTesting
import Testing

private enum TeaServer: String, ApiEnvironment {
    case test = "shop.example.com"
}

private struct Tea: ApiModel, Equatable {
    let id: Int
    let name: String
}

private enum TeaShop: ApiRouter {
    typealias EnvironmentType = TeaServer
    case teas

    var path: ApiPath { "/teas" }
}

/// The code of the guide "Checking tests against an OpenAPI document".
@Suite struct ContractSnippets {
    private static let document = #"""
        {"openapi":"3.1.0","info":{"title":"Shop","version":"1"},"paths":{"/teas":{"get":{"responses":{"200":{
        "description":"Teas","content":{"application/json":{"schema":{"type":"array","minItems":1,"items":{
        "required":["id","name"],"properties":{"id":{"type":"integer"},"name":{"type":"string"}}}}}}}}}}}}
        """#

    private func withFixtures(_ body: (URL) async throws -> Void) async throws {
        let fixtures = FileManager.default.temporaryDirectory.appending(path: "contract-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: fixtures, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: fixtures) }
        try Data(Self.document.utf8).write(to: fixtures.appending(path: "shop.json"))
        try await body(fixtures)
    }

    @Test func contract() async throws {
        try await withFixtures { fixtures in
            let script = Script(for: TeaShop.self, in: .test)
            script.on(.teas).answer([Tea(id: 1, name: "green")])
            let shop = NetworkConnector(environment: .test, provider: TestConnector(script), router: TeaShop.self)
            _ = try await shop.value([Tea].self, at: .teas)

            let contract = try Contract(openAPI: fixtures.appending(path: "shop.json"))
            contract.check(script)
            #expect(contract.issues.isEmpty)
        }
    }

    @Test func fakeBackend() async throws {
        try await withFixtures { fixtures in
            let backend = try FakeBackend(openAPI: fixtures.appending(path: "shop.json"))
            let shop = NetworkConnector(environment: .test, provider: TestConnector(backend), router: TeaShop.self)
            let teas = try await shop.value([Tea].self, at: .teas)
            #expect(!teas.isEmpty)
        }
    }
}
