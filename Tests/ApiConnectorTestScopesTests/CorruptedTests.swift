// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTestScopes
import ApiConnectorTesting
import Testing
import XCTest

/// Whether this process is the child in which tests are meant to fail.
let isChild = ProcessInfo.processInfo.environment["APICONNECTOR_CORRUPTED_TESTS"] != nil

/// A program that swallows every error, as programs that show errors on a screen do.
private func program(_ script: Script<Shop>) async {
    let shop = script.connection()
    _ = try? await shop.value(Tea.self, at: .tea(id: 1))
}

/// One test for each way to be wrong; each has to fail at the line that is marked, and nowhere else.
@Suite(.scripted(waitingUpTo: .milliseconds(10)), .enabled(if: isChild))
struct CorruptedTests {
    private let stored = Script(for: Shop.self, in: .test)  // storedInTheSuite

    @Test func storedInTheSuite() async {
        await program(stored)
    }

    @Test func nothingIsWrong() async {
        let script = Script(for: Shop.self, in: .test)
        script.on(.tea(id: 1)).answer(Tea.green)
        await program(script)
    }

    @Test func anotherPath() async {
        let script = Script(for: Shop.self, in: .test)  // anotherPath
        script.on(.tea(id: 2)).answer(Tea.green, times: .anyNumber)
        await program(script)
    }

    @Test func anotherOrigin() async {
        let script = Script(for: Shop.self, in: .test)  // anotherOrigin
        script.on(.tea(id: 1)).answer(Tea.green, times: .anyNumber)
        _ = try? await ShopConnection(environment: .other, provider: TestConnector(script)).data(at: .tea(id: 1))
    }

    @Test func anotherMethod() async {
        let script = Script(for: Shop.self, in: .test)  // anotherMethod
        script.on(matching: .method(.put), .path("/teas/1")).answer(Tea.green, times: .anyNumber)
        await program(script)
    }

    @Test func anotherHeader() async {
        let script = Script(for: Shop.self, in: .test)  // anotherHeader
        script.on(matching: .header("X-Shop", "coffee")).answer(Tea.green, times: .anyNumber)
        await program(script)
    }

    @Test func anotherQuery() async {
        let script = Script(for: Shop.self, in: .test)  // anotherQuery
        script.on(matching: .query("page", "1")).answer(Tea.green, times: .anyNumber)
        await program(script)
    }

    @Test func anotherBody() async {
        let script = Script(for: Shop.self, in: .test)  // anotherBody
        script.on(.add(.green)).answer(.status(201), times: .anyNumber)
        try? await script.connection().send(at: .add(.black))
    }

    @Test func anotherJSON() async {
        let script = Script(for: Shop.self, in: .test)  // anotherJSON
        script.on(matching: .json(["id": 2])).answer(.status(201), times: .anyNumber)
        try? await script.connection().send(at: .add(.green))
    }

    @Test func anotherBytes() async {
        let script = Script(for: Shop.self, in: .test)  // anotherBytes
        script.on(matching: .body(Data("{}".utf8))).answer(.status(201), times: .anyNumber)
        try? await script.connection().send(at: .add(.green))
    }

    @Test func anotherTemplate() async {
        let script = Script(for: Shop.self, in: .test)  // anotherTemplate
        script.on(matching: .path("/teas/{id}/leaves")).answer(Tea.green, times: .anyNumber)
        await program(script)
    }

    @Test func anotherForm() async {
        let script = Script(for: Shop.self, in: .test)  // anotherForm
        script.on(matching: .form(["user": "eve"])).answer(.status(201), times: .anyNumber)
        try? await script.connection().send(at: .login(password: "x"))
    }

    @Test func anotherCase() async {
        let script = Script(for: Shop.self, in: .test)  // anotherCase
        script.on { if case .teas = $0 { true } else { false } }.answer(Tea.green, times: .anyNumber)
        await program(script)
    }

    @Test func predicate() async {
        let script = Script(for: Shop.self, in: .test)  // predicate
        script.on(matching: .satisfying("is the second") { $0.number == 2 }).answer(Tea.green, times: .anyNumber)
        await program(script)
    }

    @Test func negation() async {
        let script = Script(for: Shop.self, in: .test)  // negation
        script.on(matching: .not(.header("X-Shop", "tea"))).answer(Tea.green, times: .anyNumber)
        await program(script)
    }

    @Test func neitherOfTwo() async {
        let script = Script(for: Shop.self, in: .test)  // neitherOfTwo
        script.on(matching: .method(.put).or(.path("/teas/2"))).answer(Tea.green, times: .anyNumber)
        await program(script)
    }

    @Test func tooFewAnswers() async {
        let script = Script(for: Shop.self, in: .test)
        script.on(.tea(id: 1)).answer(Tea.green)  // tooFewAnswers
        await program(script)
        await program(script)
    }

    @Test func tooManyAnswers() async {
        let script = Script(for: Shop.self, in: .test)
        script.on(.tea(id: 1))
            .answer(Tea.green)
            .answer(Tea.black)  // tooManyAnswers
        await program(script)
    }

    @Test func twoDeclarations() async {
        let script = Script(for: Shop.self, in: .test)
        script.on(.tea(id: 1)).answer(Tea.green, times: .anyNumber)  // twoDeclarations
        script.on(matching: .method(.get)).answer(Tea.green, times: .anyNumber)
        await program(script)
    }

    @Test func anotherType() async {
        let script = Script(for: Shop.self, in: .test)
        script.on(.tea(id: 1), as: [Tea].self).answer(.json(Tea.green))  // anotherType
        await program(script)
    }

    @Test func anotherTypeInChunks() async {
        let script = Script(for: Shop.self, in: .test)
        script.on(.tea(id: 1), as: [Tea].self).answer(.json(Tea.green).chunked(byteCount: 4))  // anotherTypeInChunks
        await program(script)
    }

    @Test func anotherTypeComputed() async {
        let script = Script(for: Shop.self, in: .test)
        script.on(.tea(id: 1), as: [Tea].self).answer { _ in .json(Tea.green) }  // anotherTypeComputed
        await program(script)
    }

    @Test func noFile() async {
        let script = Script(for: Shop.self, in: .test)
        script.on(.tea(id: 1)).answer(.file(URL(filePath: "missing-tea.json")))  // noFile
        await program(script)
    }

    @Test func usedUpBesideTwo() async {
        let script = Script(for: Shop.self, in: .test)
        script.on(.tea(id: 1)).answer(Tea.green)
        await program(script)
        script.on(.tea(id: 1)).answer(Tea.green, times: .anyNumber)  // usedUpBesideTwo
        script.on(matching: .method(.get)).answer(Tea.green, times: .anyNumber)
        await program(script)
    }

    @Test func notReleased() async throws {
        let script = Script(for: Shop.self, in: .test)
        let held = script.on(.tea(id: 1)).hold()  // notReleased
        Task { await program(script) }
        _ = try await held.request()
    }

    @Test func notAwaited() async throws {
        let clock = ManualClock()
        let script = Script(for: Shop.self, in: .test)  // notAwaited
        script.on(.tea(id: 1)).answer(.json(Tea.green).after(.seconds(1), on: clock))
        Task { await program(script) }
        _ = try await clock.nextSleep()
    }

    /// Its own error is the one that counts: what it then did not ask for is no verdict.
    @Test func throwsItself() async throws {
        let script = Script(for: Shop.self, in: .test)
        script.on(.tea(id: 1)).answer(Tea.green)
        throw CancellationError()
    }
}

/// The same through the helper for XCTest.
final class CorruptedXCTests: XCTestCase {
    func testNothingIsWrong() async throws {
        try XCTSkipUnless(isChild)
        let script = scoped(Script(for: Shop.self, in: .test))
        script.on(.tea(id: 1)).answer(Tea.green)
        await program(script)
    }

    func testAnotherPath() async throws {
        try XCTSkipUnless(isChild)
        let script = scoped(Script(for: Shop.self, in: .test))  // testAnotherPath
        script.on(.tea(id: 2)).answer(Tea.green, times: .anyNumber)
        await program(script)
    }

    func testTooManyAnswers() async throws {
        try XCTSkipUnless(isChild)
        let script = scoped(Script(for: Shop.self, in: .test))
        script.on(.tea(id: 1)).answer(Tea.green, times: 2)  // testTooManyAnswers
        await program(script)
    }

    func testTooFewAnswers() async throws {
        try XCTSkipUnless(isChild)
        let script = scoped(Script(for: Shop.self, in: .test))
        script.on(.tea(id: 1)).answer(Tea.green)  // testTooFewAnswers
        await program(script)
        await program(script)
    }

    func testAnotherType() async throws {
        try XCTSkipUnless(isChild)
        let script = scoped(Script(for: Shop.self, in: .test))
        script.on(.tea(id: 1), as: [Tea].self).answer(.json(Tea.green))  // testAnotherType
        await program(script)
    }

    /// Its own error is the one that counts.
    func testThrowsItself() async throws {
        try XCTSkipUnless(isChild)
        let script = scoped(Script(for: Shop.self, in: .test))
        script.on(.tea(id: 1)).answer(Tea.green)
        throw CancellationError()
    }
}

/// A thousand tests with one URL and a thousand answers, as many at a time as the runner starts.
@Suite(.scripted, .enabled(if: isChild))
struct ThousandTests {
    @Test(arguments: 1...1000)
    func getsItsOwnAnswer(number: Int) async throws {
        let script = Script(for: Shop.self, in: .test)
        script.on(.tea(id: 1)).answer(Tea(id: number, name: "tea"))
        #expect(try await script.connection().value(Tea.self, at: .tea(id: 1)).id == number)
    }
}
