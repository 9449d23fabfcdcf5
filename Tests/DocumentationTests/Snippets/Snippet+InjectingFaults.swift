// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTestScopes
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
    case tea(id: Int)
    case search(String)

    var path: ApiPath {
        switch self {
        case .teas: "/teas"
        case .tea(let id): "/teas/\(id)"
        case .search(let text): "/search/\(text)"
        }
    }
}

/// The search results that a screen shows.
private actor TeaSearch<Provider: DataRequestType> {
    private let shop: NetworkConnector<Provider, TeaShop>
    private var typed = ""
    private(set) var shown = ""

    init(provider: Provider) {
        shop = NetworkConnector(environment: .test, provider: provider)
    }

    func type(_ text: String) async {
        typed = text
        guard let tea = try? await shop.value(Tea.self, at: .search(text)), typed == text else { return }
        shown = tea.name
    }
}

private struct Teas: ResponseSource {
    func response(for request: ApiRequest) async throws -> TestConnectorResponse {
        .json(Tea(id: 1, name: "tea for \(request.url.lastPathComponent)"))
    }
}

@Suite(.scripted, .timeLimit(.minutes(10)))
struct FaultSnippets {
    private let tea = Tea(id: 1, name: "green")
    private let teas = Teas()

    private func shop(_ run: FaultRun) -> NetworkConnector<AnyProvider, TeaShop> {
        let provider = TestConnector { request in
            request.url.path() == "/teas"
                ? .json([Tea(id: 1, name: "grün"), Tea(id: 2, name: "black")]) : .json(Tea(id: 1, name: "green"))
        }
        return NetworkConnector(
            environment: .test,
            provider: AnyProvider(provider.injecting(run).retrying()),
            configuration: ConnectionConfiguration(timeSource: run.timeSource)
        )
    }

    @Test func survivesEverySingleFault() async throws {
        let tea = tea
        try await FaultTest.everySingleFault { run in
            let script = Script(for: TeaShop.self, in: .test)
            script.on(.tea(id: 1)).answer(tea, times: .atLeastOnce)
            let shop = NetworkConnector(
                environment: .test,
                provider: TestConnector(script).injecting(run).retrying(),
                router: TeaShop.self,
                configuration: ConnectionConfiguration(timeSource: run.timeSource)
            )
            do throws(ApiConnectorError) {
                let found: Tea = try await shop.value(at: .tea(id: 1))
                #expect(found == tea)
            } catch {
                // Nothing that passes by itself gets here.
                #expect([.malformedResponse, .decodingFailed].contains(error.kind))
            }
        }
    }

    @Test func followsAPlan() async throws {
        let script = Script(for: TeaShop.self, in: .test)
        script.on(.tea(id: 1)).answer(tea, times: 2)
        let plan = FaultPlan([FaultPlan.Entry("GET /teas/1", call: 2, Fault(.truncated, at: .byte(12)))])
        #expect(plan == FaultPlan("GET /teas/1 #2 truncated@12"))
        let provider = TestConnector(script).injecting(plan)
        let shop = NetworkConnector(environment: TeaServer.test, provider: provider, router: TeaShop.self)
        #expect(try await shop.value(Tea.self, at: .tea(id: 1)) == tea)
        let error = await #expect(throws: ApiConnectorError.self) { try await shop.data(at: .tea(id: 1)) }
        #expect(error?.kind == .connectionLost)
    }

    @Test func survivesTenPercent() async throws {
        try await FaultTest.randomFaults(10, seeds: 0..<5) { run in
            let shop = shop(run)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for id in 1...30 {
                    group.addTask { _ = try await shop.value(Tea.self, at: .tea(id: id)) }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test func readsEveryChunking() async throws {
        try await FaultTest.everyChunking { run in
            var names: [String] = []
            for try await tea in shop(run).stream(of: Tea.self, at: .teas, as: .elements) { names.append(tea.name) }
            #expect(names == ["grün", "black"])
        }
    }

    @Test func showsTheNewestAnswer() async throws {
        try await FaultTest.everyAnswerOrder { order in
            let search = TeaSearch(provider: TestConnector(teas).answering(in: order))
            await order.run({ await search.type("g") }, { await search.type("gr") }, { await search.type("gre") })
            #expect(await search.shown == "tea for gre")
        }
    }
}
