// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTestScopes
import ApiConnectorTesting
import Testing
import XCTest

/// Tests whose programs outlive them; they pass, in a child process whose standard error is looked at.
@Suite(.scripted, .enabled(if: isChild), .timeLimit(.minutes(10)))
struct LeakingTests {
    private static let (next, goOn) = AsyncStream.makeStream(of: Void.self)
    private static let (over, end) = AsyncStream.makeStream(of: Void.self)

    @Test func leaks() async throws {
        let script = Script(for: Shop.self, in: .test)
        script.on(.tea(id: 1)).answer(.never)
        script.on(.tea(id: 41)).answer(Tea.green, times: .anyNumber)
        let shop = script.connection(ConnectionConfiguration(timeouts: .unlimited))
        Task {
            // Stopped when the test ends; then the program goes on, as one that polls does.
            _ = try? await shop.data(at: .tea(id: 1))
            for await _ in Self.next {}
            _ = try? await shop.data(at: .tea(id: 41))
            Self.end.finish()
        }
        _ = try await script.nextRequest()
    }

    /// The next test, with another answer to the same request.
    @Test func getsNoLeakedRequests() async throws {
        let script = Script(for: Shop.self, in: .test)
        script.on(.tea(id: 41)).answer(Tea.black)
        Self.goOn.finish()
        for await _ in Self.over {}
        #expect(LateRequests.all.count == 1)
        #expect(script.requests.isEmpty)
        #expect(try await script.connection().value(Tea.self, at: .tea(id: 41)) == .black)
    }
}

/// The same through the helper for XCTest.
final class LeakingXCTests: XCTestCase {
    private static let over = DispatchSemaphore(value: 0)

    func testLeaks() async throws {
        try XCTSkipUnless(isChild)
        let script = scoped(Script(for: Shop.self, in: .test))
        script.on(.tea(id: 1)).answer(.never)
        let shop = script.connection(ConnectionConfiguration(timeouts: .unlimited))
        Task {
            _ = try? await shop.data(at: .tea(id: 1))
            _ = try? await shop.data(at: .tea(id: 42))
            LeakingXCTests.over.signal()
        }
        _ = try await script.nextRequest()
    }

    override class func tearDown() {
        guard isChild else { return }
        XCTAssertEqual(over.wait(timeout: .now() + .seconds(600)), .success)
        XCTAssertEqual(LateRequests.all.count, 1)
    }
}

/// Scripts without a scope, whose issues are not read.
@Suite(.enabled(if: isChild))
struct UnaskedTests {
    @Test func nobodyAsks() async {
        let script = Script(for: Shop.self, in: .test)  // nobodyAsks
        script.on(.tea(id: 2)).answer(Tea.black)  // itsAnswer
        _ = try? await script.connection().data(at: .tea(id: 1))
    }

    @Test func nobodyAsksAgain() async {
        let script = Script(for: Shop.self, in: .test)  // nobodyAsksAgain
        _ = try? await script.connection().data(at: .tea(id: 1))
        #expect(script.issues.count == 1)
        _ = try? await script.connection().data(at: .teas(page: 2))
    }

    @Test func somebodyAsks() async {
        let script = Script(for: Shop.self, in: .test)
        _ = try? await script.connection().data(at: .tea(id: 1))
        #expect(await script.end().count == 1)
    }
}
