// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTestScopes
import ApiConnectorTesting
import Backends
import Foundation
import Testing
import Walkthrough

/// How a UI test seeds an app: the test launches the program with a script, releases the responses, and reads the
/// program's requests.
@Suite(.scripted(waitingUpTo: .seconds(10)), .enabled(if: DemoProgram.isBuilt), .timeLimit(.minutes(10)))
struct SeedingAnApp {
    private let pug = Pug(pugId: "tedthepug0810", name: "小巴哥", photo: "ted.jpg")
    private let script = Script(for: PugRouter.self, in: .production)

    @Test func showsEachStateThatTheTestAsksFor() async throws {
        let list = script.on(.list)
        let answer = list.hold()
        list.answer(.status(503)).answer([Pug]())
        let app = try Demo.launch(try LaunchSeed(script).environment)

        #expect(await app.nextLine() == "PUG")
        #expect(await app.nextLine() == "  LOADING…")
        #expect(try await answer.request().url.host() == "pugs.example.com")
        answer.release([pug])
        #expect(await app.nextLine() == "PUG (1)")
        #expect(await app.nextLine() == "  小巴哥  ted.jpg")
        #expect(await app.rest() == ["PUG", "  ERROR", "PUG", "  EMPTY"])
        #expect(await app.end() == 0)

        let outcomes = script.requests.map(\.outcome.description)
        #expect(outcomes == ["answered 200 OK", "answered 503 Service Unavailable", "answered 200 OK"])
    }

    @Test func aSeedThatCannotBeReadStopsTheLaunch() async throws {
        let app = try Demo.launch([LaunchSeed.variable: "1 99 base64:e30="])
        let lines = await app.rest()
        #expect(
            lines == [
                "Error: The launch seed is refused: it has 2 bytes instead of 99; it was truncated."
            ]
        )
        #expect(await app.end() == 1)
    }

    @Test func theDemoIsBothTheTestAndTheApp() async throws {
        let demo = try Demo.launch([:])
        let lines = await demo.rest()
        #expect(await demo.end() == 0)
        #expect(lines.contains("app     LOADING…"))
        #expect(lines.contains("test  the app has requested /pugs/api/list.json and is loading; response released"))
        #expect(lines.contains("app   PUG (1)"))
        #expect(lines.last == "test  the app exited with 0; no issues")
    }
}

/// The result of a test whose program misbehaves.
///
/// The suite does not have the trait `.scripted`, because its scripts should have issues.
@Suite(.enabled(if: DemoProgram.isBuilt), .timeLimit(.minutes(10)))
struct JudgingASeededApp {
    @Test func anErrorThatTheAppHidesIsAnIssue() async throws {
        let script = Script(for: PugRouter.self, in: .production)
        let line = #line + 1
        script.on(.list).answer([Pug(pugId: "max", name: "Max", photo: "max.jpg")]).answer(.status(503))
        script.on(.info(id: "max")).answer(.status(404))
        let app = try Demo.launch(try LaunchSeed(script).environment)
        #expect(await app.rest().suffix(2) == ["PUG", "  ERROR"])
        #expect(await app.end() == 0)

        let issues = await script.end()
        #expect(issues.map(\.kind) == [.exhausted, .unused])
        #expect(issues.map { Int($0.place.line) } == [line, line + 1])
    }
}

private enum Demo {
    static func launch(_ environment: [String: String]) throws -> LaunchedProgram {
        try LaunchedProgram(
            DemoProgram.url.path,
            arguments: [LaunchSeed.argument],
            environment: environment,
            joinsErrors: true
        )
    }
}
