// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTesting
import Testing

@testable import ApiConnector

/// Decisions that differ between Apple's systems and Linux, without calls of the system.
struct URLSessionSystemTests {
    private let url = URL(filePath: "/")

    @Test func refusesAGetWithABodyOnApplesSystemsOnly() {
        let bodies: [RequestBody] = [.text("a"), .stream { AsyncStream { $0.finish() } }]
        for body in bodies {
            let request = ApiRequest(url: url, method: .get, body: body)
            #expect(
                URLSessionSystem.apple.refusal(of: request)
                    == "URLSession on Apple's systems does not send a GET with a body; use POST, or put the values in the "
                    + "query"
            )
            #expect(URLSessionSystem.linux.refusal(of: request) == nil)
        }
        #expect(URLSessionSystem.apple.refusal(of: ApiRequest(url: url, method: .get)) == nil)
        #expect(URLSessionSystem.apple.refusal(of: ApiRequest(url: url, method: .post, body: .text("a"))) == nil)
    }

    /// On Apple's systems, -999 is a cancel even after a challenge.
    @Test func readsACancelAsARejectedChallengeOnLinuxOnly() {
        #expect(URLSessionSystem.linux.isRejectedChallenge(URLError(.cancelled)))
        #expect(!URLSessionSystem.apple.isRejectedChallenge(URLError(.cancelled)))
        #expect(!URLSessionSystem.linux.isRejectedChallenge(URLError(.networkConnectionLost)))
        #expect(!URLSessionSystem.linux.isRejectedChallenge(nil))
    }

    /// On Apple's systems, the default handling answers a proxy with the credentials of the system's settings.
    @Test func leavesAProxysChallengeToApplesSystems() {
        #expect(URLSessionSystem.apple.rejectsChallenge(ofProxy: false))
        #expect(!URLSessionSystem.apple.rejectsChallenge(ofProxy: true))
        #expect(URLSessionSystem.linux.rejectsChallenge(ofProxy: false))
        #expect(URLSessionSystem.linux.rejectsChallenge(ofProxy: true))
    }

    /// On Apple's systems, each setting has its own remedy: a session's delegate cannot choose a proxy.
    @Test func eachSettingHasARemedyThatWorksThere() {
        let settings = TransportConfiguration.SessionSetting.allCases
        #expect(Set(settings.map(URLSessionSystem.linux.remedy)).count == 1)
        let remedies = settings.map(URLSessionSystem.apple.remedy)
        #expect(
            remedies == [
                "evaluate the server's certificate in the challengeHandler of URLSessionProvider(configuration:)",
                "give its SecIdentity to URLSessionProvider(configuration:clientCertificate:)",
                "use URLSessionProvider(configuration:pinnedPublicKeys:)",
                "set connectionProxyDictionary of a URLSessionConfiguration, answer the proxy in a challengeHandler, and "
                    + "use URLSessionProvider(configuration:challengeHandler:)",
            ]
        )
    }

    /// A stream must not call a released delegate, and a stream without a reader must not be returned.
    @Test func discardsAnUploadOnceTheSessionNoLongerReadsIt() throws {
        let url = try #require(URL(string: "http://localhost:1/"))
        let task = URLSession.shared.dataTask(with: url)
        let exchange = URLSessionExchange(request: ApiRequest(url: url), task: task, pins: URLSessionPins(keys: []))
        let discarded = Locked<[Int]>([])
        let writers = (0..<3).map { _ in Task<Void, Never> {} }
        func keep(_ number: Int) -> Bool {
            exchange.keepUpload(writers[number]) { discarded.withLock { $0.append(number) } }
        }
        #expect(keep(0))
        #expect(discarded.withLock { $0 } == [])
        // The session asks for the body again.
        #expect(keep(1))
        #expect(discarded.withLock { $0 } == [0])
        exchange.urlSession(.shared, task: task, didCompleteWithError: nil)
        #expect(discarded.withLock { $0 } == [0, 1])
        #expect(!keep(2))
        #expect(discarded.withLock { $0 } == [0, 1, 2])
        #expect(writers.map(\.isCancelled) == [true, true, true])
    }

    @Test func streamsAndSuspendsOnApplesSystemsOnly() {
        #expect(URLSessionSystem.apple.suspendsTasks)
        #expect(URLSessionSystem.apple.streamsRequestBodies)
        #expect(!URLSessionSystem.linux.suspendsTasks)
        #expect(!URLSessionSystem.linux.streamsRequestBodies)
        #if canImport(FoundationNetworking)
        #expect(URLSessionSystem.current == .linux)
        #else
        #expect(URLSessionSystem.current == .apple)
        #endif
    }

    /// The head of a request whose body the session reads itself.
    @Test func namesTheLengthOfAStreamAndLeavesThatOfAFileToTheSession() throws {
        func length(_ body: RequestBody) throws -> String? {
            let url = try #require(URL(string: "http://localhost:1/"))
            let head = try URLRequest(headOf: ApiRequest(url: url, method: .put, body: body))
            #expect(head.httpBody == nil)
            #expect(head.value(forHTTPHeaderField: "Content-Type") == "application/octet-stream")
            return head.value(forHTTPHeaderField: "Content-Length")
        }
        #expect(try length(.stream(byteCount: 4) { AsyncStream { $0.finish() } }) == "4")
        #expect(try length(.stream { AsyncStream { $0.finish() } }) == nil)
        #expect(try length(.file(url)) == nil)
    }

    @Test func refusesABackgroundSession() async throws {
        #if canImport(FoundationNetworking)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.identifier = "com.example.background"
        #else
        let configuration = URLSessionConfiguration.background(withIdentifier: "com.example.background")
        #endif
        let url = try #require(URL(string: "http://localhost:1/"))
        let error = await #expect(throws: ApiConnectorError.self) {
            try await URLSessionProvider(configuration: configuration).response(for: ApiRequest(url: url))
        }
        #expect(error?.kind == .invalidRequest)
        #expect(
            error?.detail
                == "its session is a background session, which transfers files while no call waits for them; use a "
                + "configuration of .default or .ephemeral"
        )
    }

    @Test func keepsNoResponseInTheSessionsCache() throws {
        let url = try #require(URL(string: "http://localhost:1/"))
        let task = URLSession.shared.dataTask(with: url)
        let exchange = URLSessionExchange(
            request: ApiRequest(url: url),
            task: task,
            pins: URLSessionPins(keys: [])
        )
        let head = try #require(HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil))
        let kept = Locked<Bool?>(nil)
        exchange.urlSession(
            .shared,
            dataTask: task,
            willCacheResponse: CachedURLResponse(response: head, data: Data("a".utf8))
        ) { response in
            kept.withLock { $0 = response != nil }
        }
        #expect(kept.withLock { $0 } == false)
    }

    #if os(Linux)
    /// The heads of a stream through a proxy: that of the answer to CONNECT, and the server's.
    @Test(arguments: [false, true]) func aStreamThroughAProxyHasTheServersHead(_ isExcluded: Bool) async {
        await #expect(processExitsWith: .success) { [isExcluded] in
            setenv("https_proxy", "http://127.0.0.1:1", 1)
            if isExcluded { setenv("no_proxy", "api.example.com", 1) }
            let url = try #require(URL(string: "https://api.example.com/"))
            let task = URLSession.shared.dataTask(with: url)
            var request = ApiRequest(url: url)
            request.delivery = .streamed
            let exchange = URLSessionExchange(request: request, task: task, pins: URLSessionPins(keys: []))
            for status in isExcluded ? [201] : [200, 201] {
                let head = try #require(
                    HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: nil)
                )
                exchange.urlSession(.shared, dataTask: task, didReceive: head) { _ in }
            }
            // An outcome only where the heads have not brought one.
            exchange.stop(.cancelled(request))
            let outcome = await withUnsafeContinuation { exchange.start(reporting: $0) }
            try #require(try outcome.get().head.statusCode == 201)
        }
    }
    #endif
}
