// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorRecording
import ApiConnectorContractScopes
import ApiConnector
import ApiConnectorTestScopes
import ApiConnectorTesting
import Testing
import XCTest

/// Where the child's tests find recordings and leave them.
private let fixtures = URL(
    filePath: ProcessInfo.processInfo.environment["APICONNECTOR_FIXTURES"]
        ?? FileManager.default.temporaryDirectory.path
)

/// Records one exchange in a file of a name.
private func record(in name: String, _ recorder: Recorder? = nil) async throws {
    let recorder = try recorder ?? Recorder(fixtures.appending(path: "\(name).har"), mode: .record)
    let shop = NetworkConnector(
        environment: .test,
        provider: TestConnector { _ in .json(Tea.green) }.recording(by: recorder),
        router: Shop.self
    )
    try await shop.send(at: .tea(id: 1))
}

/// Tests that record, each in its own file name; most of them fail.
@Suite(.scripted, .enabled(if: isChild))
struct RecordedTests {
    @Test func passes() async throws {
        try await record(in: "passes")
    }

    @Test func hasAKnownIssue() async throws {
        try await record(in: "hasAKnownIssue")
        withKnownIssue { #expect(Bool(false)) }
    }

    @Test func expectsInVain() async throws {
        try await record(in: "expectsInVain")
        #expect(Bool(false))
    }

    @Test func throwsAnError() async throws {
        try await record(in: "throwsAnError")
        throw CancellationError()
    }

    @Test func itsScriptFails() async throws {
        try await record(in: "itsScriptFails")
        let script = Script(for: Shop.self, in: .test)
        script.on(.tea(id: 1)).answer(Tea.green)
    }

    @Test func holdsASecret() async throws {
        let file = fixtures.appending(path: "holdsASecret.har")
        let recorder = try Recorder(file, mode: .record, secrets: ["planted": "X-Shop"])
        try await record(in: "", recorder)
    }

    @Test func missesARecording() async throws {
        try await record(in: "kept")
        let recorder = try Recorder(fixtures.appending(path: "recorded.har"), mode: .replay)
        let shop = NetworkConnector(
            environment: .test,
            provider: TestConnector { _ in .json(Tea.green) }.recording(by: recorder),
            router: Shop.self
        )
        _ = try? await shop.value(Tea.self, at: .tea(id: 2))
    }
}

/// The same through the helper for XCTest.
final class RecordedXCTests: XCTestCase {
    func testPasses() async throws {
        try XCTSkipUnless(isChild)
        let recorder = scoped(try Recorder(fixtures.appending(path: "testPasses.har"), mode: .record))
        try await record(in: "", recorder)
    }

    func testFails() async throws {
        try XCTSkipUnless(isChild)
        let recorder = scoped(try Recorder(fixtures.appending(path: "testFails.har"), mode: .record))
        try await record(in: "", recorder)
        XCTAssertTrue(false)
    }
}

extension RecordedXCTests {
    /// The script was there before the recorder, and is judged before it.
    func testFailsByItsScript() async throws {
        try XCTSkipUnless(isChild)
        let script = scoped(Script(for: Shop.self, in: .test))
        script.on(.tea(id: 9)).answer(Tea.black)
        let recorder = scoped(try Recorder(fixtures.appending(path: "testFailsByItsScript.har"), mode: .record))
        try await record(in: "", recorder)
    }
}

/// Tests whose canned bodies are compared with a recording.
@Suite(.scripted, .contract(with: fixtures.appending(path: "recorded.har")), .enabled(if: isChild))
struct DriftingTests {
    private func ask(_ script: Script<Shop>, _ id: Int) async throws {
        try await script.connection().send(at: .tea(id: id))
    }

    @Test func fits() async throws {
        let script = Script(for: Shop.self, in: .test)
        script.on(.tea(id: 5)).answer(Tea.black)
        try await ask(script, 5)
    }

    @Test func drifts() async throws {
        let script = Script(for: Shop.self, in: .test)
        script.on(.tea(id: 6)).answer(.json(["id": JSONValue(6), "name": "x", "sugar": true]))  // drifts
        try await ask(script, 6)
    }
}

extension JSONValue {
    fileprivate init(_ number: Int) {
        self = .number(JSONNumber(number))
    }
}
