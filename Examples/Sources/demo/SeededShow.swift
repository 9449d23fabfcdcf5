// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import ArgumentParser
import Backends
import Foundation
import Walkthrough

/// `demo --seeded`: an app started by a seed; without one in the environment, also the test that starts it.
struct SeededShow {
    private static let app = CommandLine.arguments.first ?? "demo"

    func run() async throws {
        if ProcessInfo.processInfo.environment[LaunchSeed.variable] == nil {
            try await test()
        } else {
            try await runApp()
        }
    }

    /// The app, of which the first line is all that a seed needs; without one it would talk to the server.
    private func runApp() async throws {
        let provider = try LaunchSeed.provider(or: SystemProvider())
        await SeededApp(over: provider) { line in
            FileHandle.standardOutput.write(Data("\(line)\n".utf8))
        }.run()
    }

    /// What a UI test does: says what the backend answers, launches the app, looks at its screen, and judges.
    private func test() async throws {
        let script = Script(for: PugRouter.self, in: .production)
        let list = script.on(.list)
        let answer = list.hold()
        list.answer(.status(503)).answer([Pug]())
        let seed = try LaunchSeed(script)
        print(
            "test  a script of three answers, as one entry of \(seed.environment.values.map(\.count).reduce(0, +)) bytes"
        )
        let path = Bundle.main.executablePath ?? Self.app
        let app = try LaunchedProgram(path, arguments: seed.arguments, environment: seed.environment)
        while let line = await app.nextLine() {
            print("app   \(line)")
            if line.contains("LOADING") {
                let sent = try await answer.request()
                print("test  the app has asked for \(sent.url.path()) and is loading; released")
                answer.release([Pug(pugId: "tedthepug0810", name: "小巴哥", photo: "ted.jpg")])
            }
        }
        let status = await app.end()
        for sent in script.requests { print("test  \(sent.number). \(sent)") }
        let issues = await script.end()
        for issue in issues { print("test  \(issue)") }
        print("test  the app ended with \(status), and \(issues.isEmpty ? "nothing is" : "this is") held against it")
        if status != 0 || !issues.isEmpty { throw ExitCode.failure }
    }
}
