// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTestScopes
import ApiConnectorTesting
import Backends
import DemoServer
import Foundation
import Synchronization
import Testing
import Walkthrough

/// How to test a program with every failure: each flow of the demo runs with a real server, with each possible fault of
/// each exchange.
@Suite(.scripted, .timeLimit(.minutes(10))) struct WithEverySingleFault {
    /// The provider of a run, for programs whose connections use the machine's clock.
    private static func provider(_ run: FaultRun, retries: Bool = false) -> AnyProvider {
        let injected = SystemProvider().injecting(run).timeLimiting(stall: .seconds(20))
        let provider = retries ? AnyProvider(injected.retrying()) : AnyProvider(injected)
        return AnyProvider(provider.rewriting { $0.timeSource = run.timeSource })
    }

    /// Runs a body with every single fault, each on its own server.
    private func onServer(
        of sweep: FaultSweep,
        _ body: @escaping @Sendable (FaultRun, ServerLocation) async throws -> Void
    ) async throws {
        try await FaultTest.everySingleFault(of: sweep) { run in
            try await DemoServer.run { url in try await body(run, try #require(ServerLocation(url))) }
        }
    }

    /// Runs a walk with every single fault.
    ///
    /// - Parameter stepCount: The number of steps, which is the same when a step fails.
    private func walk(
        stepCount: Int,
        retries: Bool,
        of sweep: FaultSweep = .standard,
        _ take: @escaping @Sendable (Walk, ServerLocation, AnyProvider) async -> Void
    ) async throws {
        try await onServer(of: sweep) { run, location in
            let lines = Lines()
            let walk = Walk(write: lines.append)
            await take(walk, location, Self.provider(run, retries: retries))
            // No step is missing, and a step that is not as expected says so.
            #expect(walk.stepCount == stepCount, "\(lines.text)")
            if run.fault == nil || retries { #expect(walk.isAsExpected, "\(lines.text)") }
            #expect(walk.isAsExpected || lines.text.contains("not as expected"))
        }
    }

    @Test(arguments: [false, true]) func theWalkThroughThePugsSaysWhatIsWrong(_ retries: Bool) async throws {
        try await walk(stepCount: 3, retries: retries, of: retries ? .transient : .standard) {
            await $0.pugs(.pugs(on: $1), over: $2)
        }
    }

    @Test(arguments: [false, true]) func theWalkThroughTheUsersSaysWhatIsWrong(_ retries: Bool) async throws {
        // Putting a user twice has the same effect as putting the user once.
        try await walk(stepCount: 4, retries: retries, of: retries ? .transient : .standard) {
            await $0.users(.users(on: $1), over: $2)
        }
    }

    @Test func theWalkThroughTheBlogSaysWhatIsWrong() async throws {
        try await walk(stepCount: 6, retries: false) { await $0.blog(.server($1), over: $2) }
    }

    @Test func theWalkThroughTheOrdersSaysWhatIsWrong() async throws {
        try await walk(stepCount: 6, retries: false) { await $0.orders(.orders(on: $1), over: $2) }
    }

    @Test func theStandardCompositionBringsEveryCallThrough() async throws {
        try await onServer(of: .transient) { run, location in
            let walk = Walk(write: { _ in })
            let tally = await walk.resilience(
                over: Self.provider(run),
                callCount: 3,
                isStandard: true,
                at: .stock(on: location)
            )
            #expect(walk.isAsExpected && tally?.succeededCount == 3)
        }
    }

    @Test func theFeedShowsEachEventOnceOrFails() async throws {
        try await onServer(of: .standard.without { $0.effect == .garbage }) { run, location in
            do {
                let isWhole = try await FeedShow(write: { _ in }).run(
                    .feed(on: location),
                    over: SystemProvider().injecting(run).retrying(),
                    millisecondsApart: 0,
                    timeSource: run.timeSource
                )
                #expect(isWhole)
            } catch {
                #expect((error as? ApiConnectorError)?.kind == .malformedResponse)
            }
        }
    }

    @Test func theExportsAreWholeOrFail() async throws {
        let sum = (0..<50).reduce(0) { $0 + $1 * 7 % 1000 }
        try await onServer(of: .standard) { run, location in
            let exports = Exports(
                .exports(on: location),
                over: SystemProvider().injecting(run),
                timeSource: run.timeSource
            )
            do {
                let sums = try await exports.sums(of: 50, telling: ProgressLine(isTerminal: false) { _ in })
                #expect(sums == ["NDJSON": sum, "JSON array": sum])
            } catch {
                #expect(run.fault != nil, "\(error)")
            }
        }
    }

    @Test func theArchiveArrivesWhole() async throws {
        try await onServer(of: .transient) { run, location in
            let folder = FileManager.default.temporaryDirectory.appending(path: "ApiConnector-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
            defer { try? FileManager.default.removeItem(at: folder) }
            let file = folder.appending(path: "archive")
            let exports = Exports(
                .exports(on: location),
                over: SystemProvider().injecting(run).retrying(),
                timeSource: run.timeSource
            )
            _ = try await exports.download(to: file, telling: ProgressLine(isTerminal: false) { _ in })
            #expect(try Data(contentsOf: file) == Archive.bytes(0..<Archive.byteCount))
        }
    }

    @Test func theScreenIsNeverLeftLoading() async throws {
        try await FaultTest.everySingleFault { run in
            let provider = TestConnector { _ in .json([Pug(pugId: "1", name: "Max", photo: "max.jpg")]) }.injecting(run)
                .timeLimiting(stall: .seconds(20))
                .rewriting { $0.timeSource = run.timeSource }
            let screen = await PugScreen(environment: .sample("pugs"), provider: provider)
            await screen.refresh()
            let lines = await screen.lines
            #expect(lines == ["Max  max.jpg"] || lines.first == "ERROR")
            // One retry is enough.
            if lines.first == "ERROR" {
                await screen.refresh()
                #expect(await screen.lines == ["Max  max.jpg"])
            }
        }
    }
}
