// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTestScopes
import ApiConnectorTesting
import Testing

/// The checks that the scope of a test must pass, for each trait.
@Suite(.timeLimit(.minutes(10)))
struct ScopeCheckTests {
    private let trait: ScriptedTrait = .scripted

    @Test func checkB_aTestFailsEvenIfItsProgramIgnoresEveryError() async throws {
        let test = try #require(Test.current)
        let line = #line + 3
        try await withKnownIssue {
            try await trait.provideScope(for: test, testCase: nil) {
                let script = Script(for: Shop.self, in: .test)
                let shop = script.connection()
                for id in 1...2 { _ = try? await shop.value(Tea.self, at: .tea(id: id)) }
            }
        } matching: { issue in
            issue.sourceLocation?.line == line && "\(issue)".contains("has no answer to this request")
        }
    }

    @Test func checkD_aLeakedTaskNeverGetsTheNextTestsAnswer() async throws {
        let test = try #require(Test.current)
        let url = try #require(URL(string: "https://shop.example.com:443/teas/33"))
        let mayGoOn = Gate("the end of the first test")
        let leaked = Locked<[Task<Tea, any Error>]>([])
        try await trait.provideScope(for: test, testCase: nil) {
            let script = Script(for: Shop.self, in: .test)
            script.on(matching: .path("/teas/33")).answer(Tea.black, times: .anyNumber)
            let shop = script.connection()
            let session = try SessionBridge(script).session
            let tasks = [
                Task {
                    try await mayGoOn.opened()
                    return try await shop.value(Tea.self, at: .tea(id: 33))
                },
                Task {
                    try await mayGoOn.opened()
                    return try JSONDecoder().decode(Tea.self, from: try await session.data(from: url).0)
                },
                // Begins only when the test has ended.
                Task {
                    try await mayGoOn.opened()
                    let late = Script(for: Shop.self, in: .test)
                    late.on(.tea(id: 33)).answer(Tea.black)
                    return try await late.connection().value(Tea.self, at: .tea(id: 33))
                },
            ]
            leaked.withLock { $0 = tasks }
        }
        try await trait.provideScope(for: test, testCase: nil) {
            let script = Script(for: Shop.self, in: .test)
            script.on(.tea(id: 33)).answer(Tea.green)
            mayGoOn.open()
            let tasks = leaked.withLock { $0 }
            #expect(tasks.count == 3)
            for task in tasks {
                let error = await #expect(throws: (any Error).self) { try await task.value }
                let text = (error as? ApiConnectorError)?.detail ?? error?.localizedDescription ?? ""
                #expect(text.contains("has ended, so its script no longer answers"), "\(text)")
            }
            #expect(script.requests.isEmpty)
            let tea = try await script.connection().value(Tea.self, at: .tea(id: 33))
            #expect(tea == .green)
        }
    }
}
