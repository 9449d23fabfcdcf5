// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Testing

@testable import ApiConnectorTesting

/// A request whose body is still coming when its script ends.
@Suite(.timeLimit(.minutes(2)))
struct UploadEndTests {
    private let upload = Upload()

    /// A call that sends the upload.
    private func call(_ script: Script<Shop>) throws -> Task<HTTPStatus, any Error> {
        let url = try #require(URL(string: "https://shop.example.com/teas"))
        let request = ApiRequest(url: url, method: .post, body: upload.body)
        return Task { try await TestConnector(script).response(for: request).status }
    }

    @Test func isWaitedFor() async throws {
        let script = Script(for: Shop.self, in: .test)
        script.on(matching: .method(.post), .body(Data("green".utf8))).answer(.status(201))
        let call = try call(script)
        await upload.begun.value()
        let idle = Eventual<Void>()
        script.ledger.state.withLock { $0.idleWaiters.append(idle) }
        script.ledger.releaseIdleWaiters()
        #expect(idle.current == nil)

        async let verdicts = script.end(waitingUpTo: .seconds(60))
        upload.end.set(())
        #expect(try await call.value == 201)
        #expect(await verdicts.isEmpty)
        #expect(script.requests.map(\.outcome.description) == ["answered 201 Created"])
    }

    @Test func isStoppedAndHeldAgainstTheTestWhenItTakesTooLong() async throws {
        let line = #line + 1
        let script = Script(for: Shop.self, in: .test)
        let call = try call(script)
        await upload.begun.value()
        let verdicts = await script.end(waitingUpTo: .milliseconds(1))
        #expect(
            verdicts.map(\.description) == [
                "POST https://shop.example.com/teas: its body was still being sent when the test ended, and did not come "
                    + "to its end within 0.001 seconds; await it, or cancel it, before the test ends."
            ]
        )
        #expect(verdicts.map(\.kind) == [.unfinished])
        #expect(verdicts.map(\.place.line) == [UInt(line)])
        // The source of the body goes on; its caller does not wait for it.
        let error = await #expect(throws: ApiConnectorError.self) { try await call.value }
        #expect(error?.kind == .cancelled)
        #expect(error?.detail == "the script made at \(place(line)) has ended while the request was under way")
        #expect(script.requests.map(\.outcome.description) == ["cancelled"])
        upload.end.set(())
    }

    @Test func isWaitedForNoMoreWhenItsCallIsCancelled() async throws {
        let script = Script(for: Shop.self, in: .test)
        let call = try call(script)
        await upload.begun.value()
        call.cancel()
        let error = await #expect(throws: ApiConnectorError.self) { try await call.value }
        #expect(error?.kind == .cancelled)
        #expect(await script.end(waitingUpTo: .seconds(60)).isEmpty)
        #expect(script.requests.map(\.outcome.description) == ["cancelled"])
        upload.end.set(())
    }

    @Test func isNotBegunWhenTheScriptHasEnded() async throws {
        let script = Script(for: Shop.self, in: .test)
        #expect(await script.end().isEmpty)
        let call = try call(script)
        let error = await #expect(throws: ApiConnectorError.self) { try await call.value }
        #expect(error?.kind == .unmatched)
        #expect(upload.begun.current == nil)
        #expect(script.requests.isEmpty)
    }
}

/// A body that a test lets come; its source heeds no cancel.
private struct Upload: Sendable {
    let begun = Eventual<Void>()
    let end = Eventual<Void>()

    var body: RequestBody {
        .stream { [begun, end] in
            begun.set(())
            await end.value()
            return AsyncStream { continuation in
                continuation.yield(Data("green".utf8))
                continuation.finish()
            }
        }
    }
}
