// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

@testable import ApiConnectorTestServers
import ApiConnector
@testable import ApiConnectorTesting
import Testing

/// Code that holds a `URLSession`, and knows nothing of this library.
@Suite(.timeLimit(.minutes(10)))
struct SessionBridgeTests {
    private let script = Script(for: Kiosk.self, in: KioskServer())
}

extension SessionBridgeTests {
    private func url(_ path: String) throws -> URL {
        try #require(URL(string: "http://kiosk.example.com/v1\(path)"))
    }

    private func call(_ session: URLSession, _ request: URLRequest) async -> (Data?, URLResponse?, (any Error)?) {
        await withCheckedContinuation { continuation in
            session.dataTask(with: request) { continuation.resume(returning: ($0, $1, $2)) }.resume()
        }
    }

    @Test func answersACompletionHandler() async throws {
        script.on(matching: .path("/v1/papers/1")).answer(.json(Paper.morning, status: 203, headers: ["X-A": "b"]))
        let session = try SessionBridge(script).session
        let (data, response, error) = await call(session, URLRequest(url: try url("/papers/1")))
        #expect(error == nil)
        #expect(try JSONDecoder().decode(Paper.self, from: try #require(data)) == .morning)
        let head = try #require(response as? HTTPURLResponse)
        #expect(head.statusCode == 203)
        #expect(head.value(forHTTPHeaderField: "x-a") == "b")
        #expect(await script.end().isEmpty)
    }

    @Test func answersAnAsyncCallWithAllChunks() async throws {
        let chunks = ["one ", "two ", "three"].map { Data($0.utf8) }
        script.on(matching: .method(.get)).answer(.chunks(chunks), times: 2)
        for delivery in [SessionBridge.BodyDelivery.whole, .inChunks] {
            let session = try SessionBridge(script, delivery: delivery).session
            let (data, _) = try await session.data(from: try url("/papers"))
            #expect(String(decoding: data, as: UTF8.self) == "one two three")
        }
        #expect(await script.end().isEmpty)
    }

    @Test func failsWithTheURLErrorOfTheFailure() async throws {
        script.on(.paper(id: 1)).answer(.failure(URLError(.notConnectedToInternet)))
        script.on(.paper(id: 2)).answer(.failure(ApiConnectorError(.cannotConnect, "nobody is there")))
        script.on(.paper(id: 3)).answer(.json(Paper.morning).failing(.afterByteCount(3)))
        let session = try SessionBridge(script).session
        var codes: [Int] = []
        for id in 1...3 {
            var request = URLRequest(url: try url("/papers/\(id)"))
            request.setValue("corner", forHTTPHeaderField: "X-Kiosk")
            let (data, _, error) = await call(session, request)
            #expect((error as NSError?)?.domain == NSURLErrorDomain)
            #expect(data?.isEmpty != false)
            codes.append((error as NSError?)?.code ?? 0)
        }
        #expect(
            codes == [NSURLErrorNotConnectedToInternet, NSURLErrorCannotConnectToHost, NSURLErrorNetworkConnectionLost]
        )
        #expect(await script.end().isEmpty)
    }

    @Test func explainsAnUnmatchedRequestInTheError() async throws {
        let session = try SessionBridge(script).session
        let (_, _, error) = await call(session, URLRequest(url: try url("/lost")))
        #expect(error?.localizedDescription.contains("has no answer to this request") == true)
        #expect(await script.end().map(\.kind) == [.unmatched])
    }

    #if os(Linux) || os(macOS)
    /// In its own process, for Foundation on Linux ends one in which a task is looked up while another one ends.
    @Test func doesNotCrashWhenTasksEndWhileOthersAreAnswered() async {
        await #expect(processExitsWith: .success) {
            let script = Script(for: Kiosk.self, in: KioskServer())
            script.on(matching: .method(.get)).answer(.chunks([Data("one".utf8), Data("two".utf8)]), times: .anyNumber)
            let session = try SessionBridge(script).session
            let url = try #require(URL(string: "http://kiosk.example.com/v1/papers"))
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<16 {
                    group.addTask {
                        for number in 0..<300 {
                            let isGivenUp = number.isMultiple(of: 3)
                            guard let data = await ask(session, url, isGivenUp: isGivenUp) else { continue }
                            #expect(data == Data("onetwo".utf8))
                        }
                    }
                }
            }
        }
    }
    #endif

    @Test func seesTheBodyOfADataTask() async throws {
        script.on(matching: .json(["count": 5]), .header("X-Token", "1")).answer(.status(201), times: 2)
        let session = try SessionBridge(script).session
        for isStream in [false, true] {
            var request = URLRequest(url: try url("/orders"))
            request.httpMethod = "POST"
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
            request.setValue("1", forHTTPHeaderField: "X-Token")
            let body = Data(#"{"count": 5}"#.utf8)
            if isStream { request.httpBodyStream = InputStream(data: body) } else { request.httpBody = body }
            let (_, response, error) = await call(session, request)
            #expect((response as? HTTPURLResponse)?.statusCode == 201, "\(String(describing: error))")
        }
        #expect(await script.end().isEmpty)
    }

    @Test func seesTheFieldsOfTheConfiguration() async throws {
        script.on(matching: .header("X-Client", "tea"), .header("Accept", "a/b")).answer(.status(200))
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = ["X-Client": "tea", "Accept": "text/html"]
        let session = try SessionBridge(script, configuration: configuration).session
        var request = URLRequest(url: try url("/papers"))
        request.setValue("a/b", forHTTPHeaderField: "Accept")
        #expect((await call(session, request).1 as? HTTPURLResponse)?.statusCode == 200)
        #expect(await script.end().isEmpty)
    }

    private func timedScript(_ clock: ManualClock) -> Script<Kiosk> {
        Script(for: Kiosk.self, in: KioskServer(), configuration: ConnectionConfiguration(timeSource: clock))
    }

    @Test func timesOutOnTheScriptsClock() async throws {
        let clock = ManualClock()
        let script = timedScript(clock)
        script.on(matching: .method(.get)).answer(.never)
        let session = try SessionBridge(script).session
        var request = URLRequest(url: try url("/papers"))
        request.timeoutInterval = 30
        let sent = request
        async let result = call(session, sent)
        #expect(try await clock.nextSleep() == .seconds(30))
        _ = try await script.nextRequest()
        clock.advance(by: .seconds(30))
        #expect((await result.2 as NSError?)?.code == NSURLErrorTimedOut)
        #expect(await script.end().isEmpty)
    }

    @Test func eachByteRestartsTheTimeout() async throws {
        let clock = ManualClock()
        let script = timedScript(clock)
        let chunks = ["a", "b", "c"].map { Data($0.utf8) }
        script.on(matching: .method(.get)).answer(.chunks(chunks).pausing(.seconds(20), on: clock))
        let session = try SessionBridge(script).session
        var request = URLRequest(url: try url("/papers"))
        request.timeoutInterval = 30
        let sent = request
        async let result = call(session, sent)
        var pauseCount = 0
        while pauseCount < 2 {
            // The timeout sleeps too.
            guard try await clock.nextSleep() == .seconds(20) else { continue }
            pauseCount += 1
            clock.advance(by: .seconds(20))
        }
        #expect(await result.0 == Data("abc".utf8))
        #expect(await script.end().isEmpty)
    }

    /// The thread that reads goes on when the writer does.
    @Test func aBodyStreamWithoutAWriterTimesOut() async throws {
        let clock = ManualClock()
        let script = timedScript(clock)
        let session = try SessionBridge(script).session
        let gate = Gate()
        defer { gate.open() }
        var request = URLRequest(url: try url("/orders"))
        request.httpMethod = "POST"
        request.timeoutInterval = 30
        let (body, writer) = silentBody(until: gate)
        defer { withExtendedLifetime(writer) {} }
        request.httpBodyStream = body
        let sent = request
        async let result = call(session, sent)
        #expect(try await clock.nextSleep() == .seconds(30))
        // The timeout can begin before the script has the request.
        await eventually { script.engine.state.withLock { !$0.open.arrivals.isEmpty } }
        clock.advance(by: .seconds(30))
        #expect((await result.2 as NSError?)?.code == NSURLErrorTimedOut)
        #expect(script.requests.map(\.outcome.description) == ["cancelled"])
        #expect(await script.end().isEmpty)
    }

    @Test func deliversARedirectWithoutFollowingIt() async throws {
        script.on(matching: .path("/v1/old")).answer(.status(302, headers: [.location: "/v1/new"]))
        let session = try SessionBridge(script).session
        let (_, response, _) = await call(session, URLRequest(url: try url("/old")))
        #expect((response as? HTTPURLResponse)?.statusCode == 302)
        #expect(await script.end().isEmpty)
    }

    @Test func a401IsDeliveredAndNotRetried() async throws {
        script.on(matching: .path("/v1/me")).answer(.status(401, headers: [.wwwAuthenticate: "Bearer realm=\"x\""]))
        let bridge = try SessionBridge(script)
        #expect(bridge.configuration.urlCredentialStorage == nil)
        let (_, response, _) = await call(bridge.session, URLRequest(url: try url("/me")))
        #expect((response as? HTTPURLResponse)?.statusCode == 401)
        #expect(script.requests.count == 1)
        #expect(await script.end().isEmpty)
    }

    @Test func aChallengeReachesTheLibrarysOwnTransport() async throws {
        script.on(matching: .path("/v1/me")).answer(.status(401, headers: [.wwwAuthenticate: "Basic realm=\"x\""]))
        let provider = URLSessionProvider(configuration: try SessionBridge(script, delivery: .inChunks).configuration)
        let response = try await provider.response(for: ApiRequest(url: try url("/me")))
        #expect(response.status == 401)
        #expect(response.headers[.wwwAuthenticate] == "Basic realm=\"x\"")
        #expect(script.requests.count == 1)
        #expect(await script.end().isEmpty)
    }

    #if canImport(FoundationNetworking)
    @Test func aTaskThatLinuxDoesNotSupportIsRefusedWithAnExplanation() async throws {
        let session = try SessionBridge(script).session
        let request = URLRequest(url: try url("/papers"))
        let download = await withCheckedContinuation { continuation in
            session.downloadTask(with: request) { continuation.resume(returning: $2) }.resume()
        }
        #expect(download?.localizedDescription.contains("traps in a download task") == true)
        let upload = await withCheckedContinuation { continuation in
            var request = request
            request.httpMethod = "POST"
            session.uploadTask(with: request, from: Data("x".utf8)) { continuation.resume(returning: $2) }.resume()
        }
        #expect(upload?.localizedDescription.contains("hides an upload task's body") == true)
        #expect(await script.end().map(\.kind) == [.refused, .refused])
    }

    @Test func aChallengeThatLinuxWouldAnswerItselfIsRefusedWithAnExplanation() async throws {
        final class Delegate: NSObject, URLSessionDataDelegate, Sendable {}
        let challenge: HTTPHeaders = [.wwwAuthenticate: "Basic realm=\"x\""]
        script.on(matching: .path("/v1/me")).answer(.status(401, headers: challenge), times: 2)
        let bridge = try SessionBridge(script, delivery: .inChunks)
        let delegated = URLSession(configuration: bridge.configuration, delegate: Delegate(), delegateQueue: nil)
        defer { delegated.invalidateAndCancel() }
        for session in [bridge.session, delegated] {
            let (_, _, error) = await call(session, URLRequest(url: try url("/me")))
            #expect(error?.localizedDescription.contains("over the real network") == true)
        }
        #expect(await script.end().map(\.kind) == [.refused, .refused])
    }
    #endif

    @Test func sessionsOfTwoScriptsAreSeparate() async throws {
        let count = 200
        let url = try url("/papers")
        let right = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 1...count {
                group.addTask {
                    let script = Script(for: Kiosk.self, in: KioskServer())
                    script.on(matching: .path("/v1/papers")).answer(.json(number))
                    let (data, _) = try await SessionBridge(script).session.data(from: url)
                    return await script.end().isEmpty && String(decoding: data, as: UTF8.self) == "\(number)"
                }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(right == count)
    }

    @Test func aSessionIsAnsweredWhileItOrItsBridgeIsReferenced() async throws {
        struct Always: ResponseProvider {
            func response(for request: ApiRequest) async throws -> TestConnectorResponse { .json(Paper.evening) }
        }
        let session = try SessionBridge(Always()).session
        let other = URLSession(configuration: try SessionBridge(Always()).configuration)
        let request = URLRequest(url: try url("/papers/9"))
        for session in [session, other] {
            let data = try #require(await call(session, request).0)
            #expect(try JSONDecoder().decode(Paper.self, from: data) == .evening)
        }
    }

    @Test func aBridgeThatHasEndedRefusesRequests() async throws {
        let bridge = try SessionBridge(script)
        bridge.end()
        for session in [bridge.session, URLSession(configuration: bridge.configuration)] {
            let error = await call(session, URLRequest(url: try url("/papers/9"))).2
            #expect(error?.localizedDescription.contains("has ended or was released") == true)
        }
        #expect(script.requests.isEmpty)
    }

    @Test func aSessionWhoseScriptWasReleasedSaysSo() async throws {
        func make() throws -> URLSession {
            try SessionBridge(Script(for: Kiosk.self, in: KioskServer())).session
        }
        let error = await call(try make(), URLRequest(url: try url("/papers/9"))).2
        #expect(error?.localizedDescription.contains("its script was released") == true)
    }

    #if os(Linux)
    /// In its own process, where no other test makes bridges.
    @Test func anEntryIsReleasedWithItsSession() async {
        await #expect(processExitsWith: .success) {
            let script = Script(for: Kiosk.self, in: KioskServer())
            script.on(matching: .method(.get)).answer(Paper.morning, times: .anyNumber)
            let url = try #require(URL(string: "http://kiosk.example.com/v1/papers/1"))
            func come() async throws {
                let bridge = try SessionBridge(script)
                _ = try await bridge.session.data(from: url)
                _ = try await URLSession(configuration: bridge.configuration).data(from: url)
                _ = await ask(bridge.session, url, isGivenUp: true)
            }
            for _ in 0..<50 { try await come() }
            await letGo()
            #expect(BridgeTable.shared.count == 0)
            #expect(script.requests.count >= 100)

            var session: URLSession? = try SessionBridge(script).session
            #expect(BridgeTable.shared.count == 1)
            _ = try await session?.data(from: url)
            let turns = SessionTurns()
            for _ in 0..<100 { await turns.take {} }
            #expect(BridgeTable.shared.count == 1)
            session = nil
            await letGo()
            #expect(BridgeTable.shared.count == 0)

            var configuration: URLSessionConfiguration? = try SessionBridge(script).configuration
            #expect(configuration != nil && BridgeTable.shared.count == 1)
            configuration = nil
            #expect(BridgeTable.shared.count == 0)

            let bridge = try SessionBridge(ClosureResponses { _ in .status(200) })
            #expect(BridgeTable.shared.count == 1)
            bridge.end()
            #expect(BridgeTable.shared.count == 0)
        }
    }
    #endif

    @Test func aClassIsNeverReused() {
        let classes = Set((0...600).map { ObjectIdentifier(BridgeTable.protocolClass($0)) })
        #expect(classes.count == 601)
        #expect(ObjectIdentifier(BridgeTable.protocolClass(77)) == ObjectIdentifier(BridgeTable.protocolClass(77)))
    }
}

/// Asks, and gives up at once where that is wanted.
///
/// M5: not by canceling an `async` call, in which Foundation on Linux waits for its own queue under the task's lock,
/// which that queue may want for the answer.
private func ask(_ session: URLSession, _ url: URL, isGivenUp: Bool) async -> Data? {
    await withCheckedContinuation { continuation in
        let task = session.dataTask(with: url) { data, _, error in
            continuation.resume(returning: error == nil ? data : nil)
        }
        task.resume()
        if isGivenUp { task.cancel() }
    }
}

#if os(Linux)
/// Waits until released sessions have released their objects, on Foundation's own queue.
private func letGo() async {
    let turns = SessionTurns()
    await eventually {
        await turns.take {}
        return BridgeTable.shared.count == 0
    }
}
#endif

/// A request body that does not begin before a gate is open.
///
/// - Returns: The stream, and what has to live as long as the request.
private func silentBody(until gate: Gate) -> (stream: InputStream, writer: AnyObject) {
    #if canImport(FoundationNetworking)
    let stream = SilentStream(until: gate)
    return (stream, stream)
    #else
    // A session calls private methods of its body's stream, which a subclass does not have.
    var input: InputStream?
    var output: OutputStream?
    Stream.getBoundStreams(withBufferSize: 1024, inputStream: &input, outputStream: &output)
    output?.open()
    return (input ?? InputStream(data: Data()), output ?? InputStream(data: Data()))
    #endif
}

#if canImport(FoundationNetworking)
/// A stream of a body whose writer says nothing until a gate is open.
private final class SilentStream: InputStream {
    private let gate: Gate

    init(until gate: Gate) {
        self.gate = gate
        super.init(data: Data())
    }

    override func open() {}

    override func close() {}

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength length: Int) -> Int {
        try? gate.wait()
        return 0
    }
}
#endif
