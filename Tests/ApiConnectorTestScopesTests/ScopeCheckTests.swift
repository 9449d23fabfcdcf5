// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
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

    @Test func checkC_aTestThatIsCanceledNamesTheSleepsOfItsClocks() async throws {
        let test = try #require(Test.current)
        try await withKnownIssue {
            let sleeps = Gate("both sleeps")
            let run = Task {
                try await trait.provideScope(for: test, testCase: nil) {
                    let clock = ManualClock()
                    // A task that the test does not cancel, as a call that waits for its retry.
                    let wait = Task { try await clock.sleep(until: .seconds(3)) }
                    let cancelLimit = clock.schedule(at: .seconds(31)) {}
                    for _ in 0..<2 { _ = try await clock.nextSleep() }
                    clock.advance(by: .seconds(1))
                    sleeps.open()
                    try? await Gate("the end of the test").opened()
                    wait.cancel()
                    cancelLimit()
                }
            }
            try await sleeps.opened()
            run.cancel()
            try await run.value
        } matching: { issue in
            "\(issue)".contains(
                "tasks still sleep: a manual clock, whose time is 1.0 seconds, has waits with 2.0 seconds left, and time "
                    + "limits with 30.0 seconds left."
            )
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
