// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorRecording
import ApiConnector
import ApiConnectorTesting
import TestSupport
import Testing

@testable import ApiConnectorTestScopes

/// The effect of a test's end on its recording.
@Suite(.timeLimit(.minutes(10)))
struct RecordingScopeTests {
    #if os(Linux)
    /// Runs tests of this program in a child process, with a folder of recordings.
    private func child(_ arguments: String, in folder: URL) throws -> [String] {
        let program = try #require(CommandLine.arguments.first)
        let variables = "APICONNECTOR_CORRUPTED_TESTS=1 APICONNECTOR_FIXTURES='\(folder.path)'"
        let shell = try Shell("\(variables) '\(program)' \(arguments) 2>&1")
        var lines: [String] = []
        while let line = shell.line() { lines.append(line) }
        _ = shell.end()
        return lines
    }

    /// A folder with the recording of a tea.
    private func withFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "ApiConnector-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let recorder = try Recorder(folder.appending(path: "recorded.har"), mode: .record)
        let shop = NetworkConnector(
            environment: .test,
            provider: TestConnector { _ in .json(Tea.green) }.recording(by: recorder),
            router: Shop.self
        )
        try await recorder.saving { try await shop.send(at: .tea(id: 1)) }
        try await body(folder)
    }

    private func names(in folder: URL) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    @Test func aRecordingIsSavedOnlyIfItsTestPassed() async throws {
        try await withFolder { folder in
            let lines = try child("--testing-library swift-testing --filter '\\.RecordedTests/'", in: folder)
            #expect(try names(in: folder) == ["hasAKnownIssue.har", "passes.har", "recorded.har"])
            let unsaved = lines.filter { $0.hasSuffix("was not saved: its test has failed.") }
            #expect(unsaved.count == 4)
            #expect(lines.contains { $0.contains("Test holdsASecret() recorded an issue at RecordedTests.swift") })
            #expect(lines.contains { $0.contains("Test missesARecording() recorded an issue at RecordedTests.swift") })
        }
    }

    @Test func holdsForXCTestToo() async throws {
        try await withFolder { folder in
            _ = try child("ApiConnectorTestScopesTests.RecordedXCTests", in: folder)
            #expect(try names(in: folder) == ["recorded.har", "testPasses.har"])
        }
    }

    @Test func driftIsAnIssueOfTheSuite() async throws {
        try await withFolder { folder in
            let lines = try child("--testing-library swift-testing --filter '\\.DriftingTests/'", in: folder)
            #expect(lines.contains { $0.contains("Test fits() passed") })
            #expect(lines.contains { $0.contains("Test drifts() passed") })
            let text = "GET /teas/{}, sugar: it is canned, but was never recorded in recorded.har."
            #expect(lines.contains { $0.contains(text) })
            let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "RecordedTests.swift")
            let source = try String(contentsOf: file, encoding: .utf8).split(
                separator: "\n",
                omittingEmptySubsequences: false
            )
            let line = try #require(source.firstIndex { $0.hasSuffix("// drifts") }) + 1
            let issues = lines.filter { $0.contains("recorded an issue at RecordedTests.swift") }
            #expect(issues.count == 1)
            #expect(issues.first?.contains("RecordedTests.swift:\(line):") == true)
        }
    }
    #endif

    @Test func aRecorderOfAScopeEndsWithIt() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "ApiConnector-\(UUID().uuidString).har")
        defer { try? FileManager.default.removeItem(at: file) }
        let scope = ScriptScope(named: "the test", onLateRequest: LateRequests.note)
        let recorder = try ScriptScope.$current.withValue(scope) { try Recorder(file, mode: .record) }
        let provider = TestConnector { _ in .json(Tea.green) }.recording(by: recorder)
        let shop = NetworkConnector(environment: .test, provider: provider, router: Shop.self)
        try await shop.send(at: .tea(id: 1))
        #expect(await scope.end(waitingUpTo: .seconds(1), hasFailed: false, hasIssues: false).isEmpty)
        #expect(try Recording(contentsOf: file).requests.count == 1)
        // Later requests are not part of the test.
        try await shop.send(at: .tea(id: 2))
        try recorder.save()
        #expect(try Recording(contentsOf: file).requests.count == 1)
    }
}
