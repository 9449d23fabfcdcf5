// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import ArgumentParser
import Backends
import Foundation
import Walkthrough

/// `demo --seeded`: an app that was launched with a seed.
///
/// Without a seed in the environment, this program acts as the test, and launches itself as the app.
struct SeededShow {
    private static let app = CommandLine.arguments.first ?? "demo"

    func run() async throws {
        if ProcessInfo.processInfo.environment[LaunchSeed.variable] == nil {
            try await test()
        } else {
            try await runApp()
        }
    }

    /// The app.
    ///
    /// Only the first line of this method concerns the seed. Without a seed, the app would call the server.
    private func runApp() async throws {
        let provider = try LaunchSeed.provider(or: SystemProvider())
        await SeededApp(over: provider) { line in
            FileHandle.standardOutput.write(Data("\(line)\n".utf8))
        }.run()
    }

    /// Does the work of a UI test: declares the responses, launches the app, checks the screen, and reports issues.
    private func test() async throws {
        let script = Script(for: PugRouter.self, in: .production)
        let list = script.on(.list)
        let answer = list.hold()
        list.answer(.status(503)).answer([Pug]())
        let seed = try LaunchSeed(script)
        let byteCount = seed.environment.values.map(\.count).reduce(0, +)
        print("test  a script of three responses, as one environment entry of \(byteCount) bytes")
        let path = Bundle.main.executablePath ?? Self.app
        let app = try LaunchedProgram(path, arguments: seed.arguments, environment: seed.environment)
        while let line = await app.nextLine() {
            print("app   \(line)")
            if line.contains("LOADING") {
                let sent = try await answer.request()
                print("test  the app has requested \(sent.url.path()) and is loading; response released")
                answer.release([Pug(pugId: "tedthepug0810", name: "小巴哥", photo: "ted.jpg")])
            }
        }
        let status = await app.end()
        for sent in script.requests { print("test  \(sent.number). \(sent)") }
        let issues = await script.end()
        for issue in issues { print("test  \(issue)") }
        print("test  the app exited with \(status); \(issues.isEmpty ? "no issues" : "\(issues.count) issues")")
        if status != 0 || !issues.isEmpty { throw ExitCode.failure }
    }
}
