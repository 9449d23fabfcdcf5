// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorRecording
import ApiConnectorContracts
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
    case add(Tea)

    var path: ApiPath { "/teas" }

    var method: HTTPMethod {
        if case .add = self { .post } else { .get }
    }

    var body: RequestBody {
        if case .add(let tea) = self { .json(tea) } else { .empty }
    }
}

/// The code of the guide "Record and replay".
@Suite(.scripted, .timeLimit(.minutes(10)))
struct RecordingSnippets {
    private let fixtures: URL
    private let teas = [Tea(id: 1, name: "green"), Tea(id: 2, name: "black")]

    init() throws {
        fixtures = FileManager.default.temporaryDirectory.appending(path: "ApiConnector-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: fixtures, withIntermediateDirectories: false)
    }

    private func removeFixtures() {
        try? FileManager.default.removeItem(at: fixtures)
    }

    /// Records a list of teas.
    private func record(in name: String) async throws {
        let recorder = try Recorder(fixtures.appending(path: name), mode: .record)
        let teas = teas
        let shop = NetworkConnector(
            environment: .test,
            provider: TestConnector { _ in .json(teas) }.recording(by: recorder),
            router: TeaShop.self
        )
        try await recorder.saving { try await shop.send(at: .teas) }
    }

    @Test func answersFromItsFile() async throws {
        defer { removeFixtures() }
        try await record(in: "teas.har")

        let recorder = try Recorder(fixtures.appending(path: "teas.har"))
        let shop = NetworkConnector(
            environment: .test,
            provider: SystemProvider().recording(by: recorder),
            router: TeaShop.self
        )

        #expect(try await shop.value([Tea].self, at: .teas).count == 2)
    }

    @Test func savesByHand() async throws {
        defer { removeFixtures() }
        let file = fixtures.appending(path: "teas.har")
        let partnerKey = "b0-7c"
        let recorder = try Recorder(file, mode: .record, secrets: ["partner": partnerKey])
        let shop = NetworkConnector(
            environment: .test,
            provider: TestConnector { _ in .json([Tea(id: 1, name: "b0-7c")]) }.recording(by: recorder),
            router: TeaShop.self
        )

        let teas = try await recorder.saving {
            try await shop.value([Tea].self, at: .teas)
        }

        #expect(teas.first?.name == partnerKey)
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(text.contains("REDACTED-partner"))
        #expect(!text.contains(partnerKey))
    }

    @Test func replaysAFileFromABrowser() async throws {
        defer { removeFixtures() }
        try await record(in: "exported.har")
        let clock = ManualClock()

        let replay = try Replay(contentsOf: fixtures.appending(path: "exported.har"), pace: .recorded)
        let shop = NetworkConnector(
            environment: .test,
            provider: TestConnector(replay),
            router: TeaShop.self,
            configuration: ConnectionConfiguration(timeSource: clock)
        )

        let call = Task { try await shop.value([Tea].self, at: .teas) }
        let mover = Task {
            while true {
                let wait = try await clock.nextSleep()
                // The replay takes as long as the recording, even on a busy machine. The rest of the stall timeout, a
                // minute, sleeps at the same time.
                if wait < .seconds(30) { clock.advance(by: wait) }
            }
        }
        #expect(try await call.value == teas)
        mover.cancel()
    }

    @Test func remembers() async throws {
        defer { removeFixtures() }
        let teas = FakeCollection("/teas", of: [Tea(id: 1, name: "green")], by: \.id)
        let shop = NetworkConnector(environment: .test, provider: TestConnector(teas), router: TeaShop.self)

        try await shop.send(at: .add(Tea(id: 2, name: "black")))
        #expect(try await shop.value([Tea].self, at: .teas).map(\.name) == ["green", "black"])
        #expect(teas.items.count == 2)
    }

    @Test func comparesWithARecording() async throws {
        defer { removeFixtures() }
        try await record(in: "teas.har")
        let script = Script(for: TeaShop.self, in: .test)
        script.on(.teas).answer(teas)
        let shop = NetworkConnector(environment: .test, provider: TestConnector(script), router: TeaShop.self)
        _ = try await shop.value([Tea].self, at: .teas)

        let contract = Contract(try Recording(contentsOf: fixtures.appending(path: "teas.har")))
        contract.check(script)
        #expect(contract.issues.isEmpty)
    }
}
