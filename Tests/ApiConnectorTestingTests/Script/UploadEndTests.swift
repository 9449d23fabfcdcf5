// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

@testable import ApiConnectorTestServers
import ApiConnector
import Testing

@testable import ApiConnectorTesting

/// A request whose body is still coming when its script ends.
@Suite(.timeLimit(.minutes(10)))
struct UploadEndTests {
    private let upload = Upload()
}

extension UploadEndTests {
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
        #expect(!script.isIdle)

        async let issues = script.end(waitingUpTo: .seconds(600))
        upload.end.set(())
        #expect(try await call.value == 201)
        #expect(await issues.isEmpty)
        #expect(script.requests.map(\.outcome.description) == ["answered 201 Created"])
    }

    @Test func isStoppedAndAnIssueIfItTakesTooLong() async throws {
        let line = #line + 1
        let script = Script(for: Shop.self, in: .test)
        let call = try call(script)
        await upload.begun.value()
        let issues = await script.end(waitingUpTo: .milliseconds(1))
        #expect(
            issues.map(\.description) == [
                "POST https://shop.example.com/teas: the client was still sending the body "
                    + "when the test ended, and did "
                    + "not finish within 0.001 seconds; await or cancel it before the test ends."
            ]
        )
        #expect(issues.map(\.kind) == [.unfinished])
        #expect(issues.map(\.place.line) == [UInt(line)])
        // The source of the body goes on; its caller does not wait for it.
        let error = await #expect(throws: ApiConnectorError.self) { try await call.value }
        #expect(error?.kind == .cancelled)
        #expect(error?.detail == "the script made at \(place(line)) ended while the request was running")
        #expect(script.requests.map(\.outcome.description) == ["cancelled"])
        upload.end.set(())
    }

    @Test func isNoLongerWaitedForIfItsCallIsCanceled() async throws {
        let script = Script(for: Shop.self, in: .test)
        let call = try call(script)
        await upload.begun.value()
        call.cancel()
        let error = await #expect(throws: ApiConnectorError.self) { try await call.value }
        #expect(error?.kind == .cancelled)
        #expect(await script.end(waitingUpTo: .seconds(600)).isEmpty)
        #expect(script.requests.map(\.outcome.description) == ["cancelled"])
        upload.end.set(())
    }

    @Test func stallsIfItsSourceIsIdle() async throws {
        let clock = ManualClock()
        let script = Script(for: UploadRoute.self, in: .test)
        let shop = NetworkConnector<TestConnector<Script<UploadRoute>>, UploadRoute>(
            environment: .test,
            provider: TestConnector(script),
            configuration: ConnectionConfiguration(timeSource: clock)
        )
        let call = Task { [upload] in try await shop.data(at: UploadRoute(upload: upload)) }
        await upload.begun.value()
        #expect(try await clock.nextSleep() == .seconds(60))
        clock.advance(by: .seconds(60))
        let error = await #expect(throws: ApiConnectorError.self) { try await call.value }
        #expect(error?.kind == .stalled)
        #expect(await script.end(waitingUpTo: .seconds(600)).isEmpty)
        upload.end.set(())
    }

    @Test func isNotStartedAfterTheScriptHasEnded() async throws {
        let script = Script(for: Shop.self, in: .test)
        #expect(await script.end().isEmpty)
        let call = try call(script)
        let error = await #expect(throws: ApiConnectorError.self) { try await call.value }
        #expect(error?.kind == .unmatched)
        #expect(upload.begun.current == nil)
        #expect(script.requests.isEmpty)
    }

    // MARK: - Over adapters

    /// A connection to a server of a script's, on which a client has sent a head and half of a body.
    private func halfAnUpload(to server: ScriptServer) async throws -> Socket {
        let socket = try Socket.connect(to: server.port)
        let head = "POST /teas HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n"
        try socket.send(Data(head.utf8))
        // Sent when the head has arrived.
        #expect(try await socket.next() == "HTTP/1.1 100 Continue\r\n\r\n")
        try socket.send(Data("gr".utf8))
        return socket
    }

    @Test func isWaitedForOverAServer() async throws {
        let script = Script(for: Shop.self, in: .test)
        script.on(matching: .method(.post), .body(Data("green".utf8))).answer(.status(201))
        let socket = try await halfAnUpload(to: try ScriptServer(script))
        #expect(!script.isIdle)

        async let issues = script.end(waitingUpTo: .seconds(600))
        try socket.send(Data("een".utf8))
        #expect(try await socket.next().hasPrefix("HTTP/1.1 201 Created\r\n"))
        #expect(await issues.isEmpty)
        #expect(script.requests.map(\.outcome.description) == ["answered 201 Created"])
        socket.close()
    }

    @Test func isStoppedOverAServerIfItTakesTooLong() async throws {
        let script = Script(for: Shop.self, in: .test)
        let server = try ScriptServer(script)
        let socket = try await halfAnUpload(to: server)
        #expect(await script.end(waitingUpTo: .milliseconds(1)).map(\.kind) == [.unfinished])
        #expect((try? await socket.next())?.isEmpty != false)
        #expect(script.requests.map(\.outcome.description) == ["cancelled"])
        socket.close()
        withExtendedLifetime(server) {}
    }

    @Test func isNoLongerWaitedForOverAServerIfTheClientDisconnects() async throws {
        let script = Script(for: Shop.self, in: .test)
        let socket = try await halfAnUpload(to: try ScriptServer(script))
        socket.close()
        #expect(await script.end(waitingUpTo: .seconds(600)).isEmpty)
        #expect(script.requests.map(\.outcome.description) == ["cancelled"])
    }

    // On Apple's systems, a session calls private methods of its body's stream, which a subclass does not have.
    #if canImport(FoundationNetworking)
    @Test func isWaitedForOverASession() async throws {
        let script = Script(for: Shop.self, in: .test)
        script.on(matching: .method(.post), .body(Data("green".utf8))).answer(.status(201))
        let session = try SessionBridge(script).session
        let input = HeldInput()
        var request = URLRequest(url: try #require(URL(string: "https://shop.example.com/teas")))
        request.httpMethod = "POST"
        request.httpBodyStream = input
        let call = Task { [request] in try await session.data(for: request).1 as? HTTPURLResponse }
        await input.begun.value()
        #expect(!script.isIdle)

        async let issues = script.end(waitingUpTo: .seconds(600))
        input.end.set(())
        #expect(try await call.value?.statusCode == 201)
        #expect(await issues.isEmpty)
        #expect(script.requests.map(\.outcome.description) == ["answered 201 Created"])
    }
    #endif
}

extension Socket {
    /// Reads the next bytes as text, on a separate thread.
    fileprivate func next() async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { String(decoding: try self.receive(), as: UTF8.self) })
            }
        }
    }
}

extension Script {
    /// Whether its end would not have to wait.
    fileprivate var isIdle: Bool {
        let idle = Eventual<Void>()
        engine.state.withLock { $0.open.addIdleWaiter(idle) }
        engine.releaseIdleWaiters()
        return idle.current != nil
    }
}

#if canImport(FoundationNetworking)
/// A stream whose bytes a test releases; its reader waits until then.
private final class HeldInput: InputStream {
    let begun = Eventual<Void>()
    let end = Eventual<Void>()
    private var isOver = false

    init() { super.init(data: Data()) }

    override func open() {}
    override func close() {}
    override var hasBytesAvailable: Bool { !isOver }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
        guard !isOver else { return 0 }
        let isRead = DispatchSemaphore(value: 0)
        begun.set(())
        end.whenSet { isRead.signal() }
        isRead.wait()
        isOver = true
        let bytes = Array("green".utf8)
        buffer.update(from: bytes, count: bytes.count)
        return bytes.count
    }
}
#endif

private struct UploadRoute: ApiRouter {
    typealias EnvironmentType = ShopServer

    let upload: Upload
    var path: ApiPath { "/teas" }
    var method: HTTPMethod { .post }
    var body: RequestBody { upload.body }
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
