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
///
/// It throws what the adapter says of a script that it does not take.
private func program(
    _ script: Script<Shop>,
    in environment: ShopServer = .test,
    asksFor route: Shop = .tea(id: 1)
) async throws {
    let shop = try ScriptAdapter.current.connection(to: script, in: environment)
    _ = try? await shop.value(Tea.self, at: route)
}

/// A value that does not come back as it was encoded.
private struct Lopsided: Codable {
    var name: String

    init(name: String) {
        self.name = name
    }

    init(from decoder: any Decoder) throws {
        name = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .name)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(["title": name])
    }

    private enum CodingKeys: CodingKey { case name }
}

/// One test for each way to be wrong; each has to fail at the line that is marked, and nowhere else.
@Suite(.scripted(waitingUpTo: .milliseconds(10)), .enabled(if: isChild))
struct CorruptedTests {
    private let stored = Script(for: Shop.self, in: .test)  // storedInTheSuite

    @Test func storedInTheSuite() async throws {
        try await program(stored)
    }

    @Test func nothingIsWrong() async throws {
        let script = Script(for: Shop.self, in: .test)
        script.on(.tea(id: 1)).answer(Tea.green)
        try await program(script)
    }

    @Test func anotherPath() async throws {
        let script = Script(for: Shop.self, in: .test)  // anotherPath
        script.on(.tea(id: 2)).answer(Tea.green, times: .anyNumber)
        try await program(script)
    }

    @Test(.enabled(if: ScriptAdapter.current != .server)) func anotherOrigin() async throws {
        let script = Script(for: Shop.self, in: .test)  // anotherOrigin
        script.on(.tea(id: 1)).answer(Tea.green, times: .anyNumber)
        try await program(script, in: .other)
    }

    @Test func anotherMethod() async throws {
        let script = Script(for: Shop.self, in: .test)  // anotherMethod
        script.on(matching: .method(.put), .path("/teas/1")).answer(Tea.green, times: .anyNumber)
        try await program(script)
    }

    @Test func anotherHeader() async throws {
        let script = Script(for: Shop.self, in: .test)  // anotherHeader
        script.on(matching: .header("X-Shop", "coffee")).answer(Tea.green, times: .anyNumber)
        try await program(script)
    }

    @Test func anotherQuery() async throws {
        let script = Script(for: Shop.self, in: .test)  // anotherQuery
        script.on(matching: .query("page", "1")).answer(Tea.green, times: .anyNumber)
        try await program(script)
    }

    @Test func anotherBody() async throws {
        let script = Script(for: Shop.self, in: .test)  // anotherBody
        script.on(.add(.green)).answer(.status(201), times: .anyNumber)
        try await program(script, asksFor: .add(.black))
    }

    @Test func anotherJSON() async throws {
        let script = Script(for: Shop.self, in: .test)  // anotherJSON
        script.on(matching: .json(["id": 2])).answer(.status(201), times: .anyNumber)
        try await program(script, asksFor: .add(.green))
    }

    @Test func anotherBytes() async throws {
        let script = Script(for: Shop.self, in: .test)  // anotherBytes
        script.on(matching: .body(Data("{}".utf8))).answer(.status(201), times: .anyNumber)
        try await program(script, asksFor: .add(.green))
    }

    @Test func anotherTemplate() async throws {
        let script = Script(for: Shop.self, in: .test)  // anotherTemplate
        script.on(matching: .path("/teas/{id}/leaves")).answer(Tea.green, times: .anyNumber)
        try await program(script)
    }

    @Test func anotherForm() async throws {
        let script = Script(for: Shop.self, in: .test)  // anotherForm
        script.on(matching: .form(["user": "eve"])).answer(.status(201), times: .anyNumber)
        try await program(script, asksFor: .login(password: "x"))
    }

    @Test func anotherCase() async throws {
        let script = Script(for: Shop.self, in: .test)  // anotherCase
        script.on { if case .teas = $0 { true } else { false } }.answer(Tea.green, times: .anyNumber)
        try await program(script)
    }

    @Test func predicate() async throws {
        let script = Script(for: Shop.self, in: .test)  // predicate
        script.on(matching: .satisfying("is the second") { $0.number == 2 }).answer(Tea.green, times: .anyNumber)
        try await program(script)
    }

    @Test func negation() async throws {
        let script = Script(for: Shop.self, in: .test)  // negation
        script.on(matching: .not(.header("X-Shop", "tea"))).answer(Tea.green, times: .anyNumber)
        try await program(script)
    }

    @Test func neitherOfTwo() async throws {
        let script = Script(for: Shop.self, in: .test)  // neitherOfTwo
        script.on(matching: .method(.put).or(.path("/teas/2"))).answer(Tea.green, times: .anyNumber)
        try await program(script)
    }

    @Test func tooFewAnswers() async throws {
        let script = Script(for: Shop.self, in: .test)
        script.on(.tea(id: 1)).answer(Tea.green)  // tooFewAnswers
        try await program(script)
        try await program(script)
    }

    @Test func tooManyAnswers() async throws {
        let script = Script(for: Shop.self, in: .test)
        script.on(.tea(id: 1))
            .answer(Tea.green)
            .answer(Tea.black)  // tooManyAnswers
        try await program(script)
    }

    @Test func twoDeclarations() async throws {
        let script = Script(for: Shop.self, in: .test)
        script.on(.tea(id: 1)).answer(Tea.green, times: .anyNumber)  // twoDeclarations
        script.on(matching: .method(.get)).answer(Tea.green, times: .anyNumber)
        try await program(script)
    }

    @Test func anotherType() async throws {
        let script = Script(for: Shop.self, in: .test)
        script.on(.tea(id: 1), as: [Tea].self).answer(.json(Tea.green))  // anotherType
        try await program(script)
    }

    @Test func anotherTypeInChunks() async throws {
        let script = Script(for: Shop.self, in: .test)
        script.on(.tea(id: 1), as: [Tea].self).answer(.json(Tea.green).chunked(byteCount: 4))  // anotherTypeInChunks
        try await program(script)
    }

    @Test func anotherTypeComputed() async throws {
        let script = Script(for: Shop.self, in: .test)
        script.on(.tea(id: 1), as: [Tea].self).answer { _ in .json(Tea.green) }  // anotherTypeComputed
        try await program(script)
    }

    @Test func noFile() async throws {
        let script = Script(for: Shop.self, in: .test)
        script.on(.tea(id: 1)).answer(.file(URL(filePath: "missing-tea.json")))  // noFile
        try await program(script)
    }

    @Test func lopsided() async throws {
        let script = Script(for: Shop.self, in: .test)
        script.on(.tea(id: 1)).answer(Lopsided(name: "green"))  // lopsided
        try await program(script)
    }

    @Test func noJSON() async throws {
        let script = Script(for: Shop.self, in: .test)
        script.on(.tea(id: 1)).answer(.json(Double.nan))  // noJSON
        try await program(script)
    }

    @Test(.enabled(if: ScriptAdapter.current != .seed)) func usedUpBesideTwo() async throws {
        let script = Script(for: Shop.self, in: .test)
        script.on(.tea(id: 1)).answer(Tea.green)
        try await program(script)
        script.on(.tea(id: 1)).answer(Tea.green, times: .anyNumber)  // usedUpBesideTwo
        script.on(matching: .method(.get)).answer(Tea.green, times: .anyNumber)
        try await program(script)
    }

    @Test func notReleased() async throws {
        let script = Script(for: Shop.self, in: .test)
        let held = script.on(.tea(id: 1)).hold()  // notReleased
        let shop = try ScriptAdapter.current.connection(to: script)
        Task { try await shop.data(at: .tea(id: 1)) }
        _ = try await held.request()
    }

    @Test func notAwaited() async throws {
        let clock = ManualClock()
        let script = Script(for: Shop.self, in: .test)  // notAwaited
        script.on(.tea(id: 1)).answer(.json(Tea.green).after(.seconds(1), on: clock))
        let shop = try ScriptAdapter.current.connection(to: script)
        Task { try await shop.data(at: .tea(id: 1)) }
        _ = try await clock.nextSleep()
    }

    @Test func stillSending() async throws {
        let script = Script(for: Shop.self, in: .test)  // stillSending
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let body = RequestBody.stream {
            begin.finish()
            return AsyncStream<Data> { _ in }
        }
        let url = try #require(URL(string: "https://shop.example.com/teas"))
        Task { try await script.connection().send(at: url, method: .post, body: body) }
        for await _ in begun {}
    }

    @Test(.enabled(if: ScriptAdapter.current != .inProcess)) func notExpressible() async throws {
        let script = Script(for: Shop.self, in: .test)
        let held = script.on(.tea(id: 1)).hold()  // notExpressible
        let shop = try ScriptAdapter.current.connection(to: script)
        async let data = shop.data(at: .tea(id: 1))
        _ = try await held.request()
        held.release(ScriptAdapter.current.inexpressible)
        _ = try? await data
    }

    @Test(.enabled(if: ScriptAdapter.current != .inProcess)) func notExpressibleLate() async throws {
        let script = Script(for: Shop.self, in: .test)
        _ = try ScriptAdapter.current.connection(to: script)
        script.on(.tea(id: 1)).answer(ScriptAdapter.current.inexpressible, times: .anyNumber)  // notExpressibleLate
    }

    /// The test's own error counts; routes that it did not request after that are not an issue.
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
        try await program(script)
    }

    func testAnotherPath() async throws {
        try XCTSkipUnless(isChild)
        let script = scoped(Script(for: Shop.self, in: .test))  // testAnotherPath
        script.on(.tea(id: 2)).answer(Tea.green, times: .anyNumber)
        try await program(script)
    }

    func testTooManyAnswers() async throws {
        try XCTSkipUnless(isChild)
        let script = scoped(Script(for: Shop.self, in: .test))
        script.on(.tea(id: 1)).answer(Tea.green, times: 2)  // testTooManyAnswers
        try await program(script)
    }

    func testTooFewAnswers() async throws {
        try XCTSkipUnless(isChild)
        let script = scoped(Script(for: Shop.self, in: .test))
        script.on(.tea(id: 1)).answer(Tea.green)  // testTooFewAnswers
        try await program(script)
        try await program(script)
    }

    func testAnotherType() async throws {
        try XCTSkipUnless(isChild)
        let script = scoped(Script(for: Shop.self, in: .test))
        script.on(.tea(id: 1), as: [Tea].self).answer(.json(Tea.green))  // testAnotherType
        try await program(script)
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
