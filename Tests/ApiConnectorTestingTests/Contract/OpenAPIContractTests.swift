// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorContracts
import ApiConnector
import ApiConnectorTesting
import Testing

private enum ProxiedServer: String, ApiEnvironment {
    case proxy = "proxy.example.com"
    var basePath: String { "/shop/api" }
}

private struct BestTea: ApiRouter {
    typealias EnvironmentType = ProxiedServer
    var path: ApiPath { "/teas/best" }
}

@Suite(.timeLimit(.minutes(10)))
struct OpenAPIContractTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        _ = try folder.write(Data(ShopDocument.text.utf8), to: "shop.json")
    }
}

extension OpenAPIContractTests {
    private var file: URL { folder.file("shop.json") }

    @Test func anExchangeThatMatchesTheDocumentHasNoIssue() async throws {
        let contract = try Contract(openAPI: file)
        let script = Script(for: Shop.self, in: .test)
        script.on(.tea(id: 1)).answer(Tea.green)
        _ = try await script.connection().data(at: .tea(id: 1))
        contract.check(script)
        #expect(contract.issues.isEmpty)
    }

    @Test func aViolationNamesTheRequestBothPointersAndTheLineOfTheAnswer() async throws {
        let contract = try Contract(openAPI: file)
        let script = Script(for: Shop.self, in: .test)
        let line = #line + 1
        script.on(.tea(id: 1)).answer(.json(["id": 1, "name": 2]), times: 2)
        for _ in 0..<2 { _ = try await script.connection().data(at: .tea(id: 1)) }
        contract.check(script)
        contract.check(script)
        #expect(
            contract.issues.map(\.description) == [
                "GET https://shop.example.com/teas/1: the response body at /name: it is "
                    + "an integer, but the schema requires "
                    + "string (#/components/schemas/Tea/properties/name/type) in shop.json."
            ]
        )
        #expect(contract.issues.allSatisfy { $0.kind == .violated && $0.place.description == place(line) })
    }

    @Test func aRequestWithoutAnAnswerIsCheckedToo() async throws {
        let contract = try Contract(openAPI: file)
        let line = #line + 1
        let script = Script(for: Shop.self, in: .test)
        _ = try? await script.connection().data(at: .teas(page: 0))
        contract.check(script)
        #expect(
            contract.issues.map(\.description) == [
                "GET https://shop.example.com/teas?page=0: the query parameter \"page\": 0 is not at least 1 "
                    + "(#/paths/~1teas/get/parameters/0/schema/minimum) in shop.json."
            ]
        )
        #expect(contract.issues.first?.place.description == place(line))
        #expect(await script.end().count == 1)
    }

    @Test func ignoredViolationsAreNotReported() async throws {
        let contract = try Contract(openAPI: file, ignoring: ["#/components/schemas/Tea/properties/name"])
        let script = Script(for: Shop.self, in: .test)
        script.on(.tea(id: 1)).answer(.json(["id": "1", "name": 2]))
        _ = try await script.connection().data(at: .tea(id: 1))
        contract.check(script)
        #expect(contract.issues.count == 1)
    }

    @Test func inASuiteWithAContractAViolationIsAnIssueOfTheScript() async throws {
        let contract = try Contract(openAPI: file)
        await ScriptExchange.$collector.withValue(contract.collect) {
            let script = Script(for: Shop.self, in: .test)
            script.on(.tea(id: 1)).answer(.json(["id": 1]))
            _ = try? await script.connection().data(at: .tea(id: 1))
            let issues = await script.end()
            #expect(issues.map(\.kind) == [.violated])
        }
        #expect(contract.issues.isEmpty)
    }

    @Test func theBasePathOfTheEnvironmentNeedNotBeAServerOfTheDocument() async throws {
        let contract = try Contract(openAPI: file)
        let script = Script(for: BestTea.self, in: .proxy)
        script.on(BestTea()).answer(.data(Data("mate".utf8), headers: ["Content-Type": "text/plain"]))
        let shop = NetworkConnector(environment: .proxy, provider: TestConnector(script), router: BestTea.self)
        let tea = try await shop.string(at: BestTea())
        #expect(tea == "mate")
        contract.check(script)
        #expect(contract.issues.isEmpty)
    }
}
