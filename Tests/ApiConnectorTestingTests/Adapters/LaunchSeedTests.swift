// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

@testable import ApiConnectorTestServers
import ApiConnector
@testable import ApiConnectorTesting
import Testing

/// A script that travels in the environment of a program, and its engine that comes back.
@Suite(.timeLimit(.minutes(10)))
struct LaunchSeedTests {
    private let script = Script(for: Kiosk.self, in: KioskServer())
}

extension LaunchSeedTests {
    #if os(Linux) || os(macOS)
    @Test func checkL_aSeedAnswersInAnotherProcessWhichReportsItsRequests() async throws {
        let line = UInt(#line)
        script.on(.paper(id: 1)).answer(.status(503)).answer(Paper.morning)
        script.on(.paper(id: 2)).answer(Paper.evening, times: 2)
        let answer = script.on(.papers(page: 1)).hold()
        let seed = try LaunchSeed(script)
        let release = Task {
            let sent = try await answer.request()
            answer.release([Paper.evening])
            return sent
        }
        let (launch, entries) = (seed.arguments, seed.environment)
        await #expect(processExitsWith: .success) {
            [launch = launch as [String], entries = entries as [String: String]] in
            let provider = try LaunchSeed.provider(or: Nothing(), arguments: launch, environment: entries)
            let kiosk = KioskConnection(environment: KioskServer(), provider: provider, configuration: .patient)
            #expect(try await kiosk.value([Paper].self, at: .papers(page: 1)) == [.evening])
            #expect((try? await kiosk.data(at: .paper(id: 1))) == nil)
            #expect(try await kiosk.value(Paper.self, at: .paper(id: 1)) == .morning)
            #expect(try await kiosk.value(Paper.self, at: .paper(id: 2)) == .evening)
            // Swallowed, and told to the test all the same.
            #expect((try? await kiosk.send(at: .order(count: 7))) == nil)
        }
        #expect(try await release.value.headers["X-Kiosk"] == "corner")
        #expect(
            script.requests.map(\.outcome.description)
                == [
                    "answered 200 OK", "answered 503 Service Unavailable", "answered 200 OK", "answered 200 OK",
                    "failed (unmatched)",
                ]
        )
        #expect(try script.requests.last?.json(as: [String: Int].self) == ["count": 7])
        let issues = await script.end()
        #expect(issues.map(\.kind) == [.unmatched, .unused])
        #expect(issues.last?.place.line == line + 2)
        #expect(issues.allSatisfy { "\($0.place.filePath)".hasSuffix("LaunchSeedTests.swift") })
    }

    #endif

    @Test func theWaitingRequestsOfAProgramEndWithIt() async throws {
        let answer = script.on(.paper(id: 1)).hold()
        let program = try Program(of: try LaunchSeed(script))
        let request = SeedRequest(
            RecordedRequest(number: 1, request: ApiRequest(url: KioskServer().rootURL), body: Data())
        )
        try program.say(.event(.entered(1, request)))
        try program.say(.event(.took(declaration: 0, step: 0)))
        try program.say(.event(.held(1, declaration: 0, step: 0)))
        // A request that does not wait for another one, so that the script waits for its end.
        try program.say(.event(.entered(2, request)))
        _ = try await answer.request()
        _ = try await script.nextRequest()
        _ = try await script.nextRequest()
        program.socket.close()
        #expect(await script.end(waitingUpTo: .seconds(600)).isEmpty)
        #expect(script.requests.map(\.outcome.description) == ["cancelled", "cancelled"])
    }

    @Test func aHeldAnswerThatIsNotReleasedIsAnIssue() async throws {
        let line = UInt(#line + 1)
        let answer = script.on(.paper(id: 1)).hold()
        let kiosk = try ScriptAdapter.seed.connection(to: script)
        let call = Task { try await kiosk.data(at: .paper(id: 1)) }
        _ = try await answer.request()
        let issues = await script.end()
        #expect(issues.map(\.kind) == [.unreleased])
        #expect(issues.map(\.place.line) == [line])
        let error = await #expect(throws: ApiConnectorError.self) { try await call.value }
        #expect(error?.kind == .cancelled)
    }

    @Test func aSecondLaunchContinuesWithTheNextAnswer() async throws {
        script.on(.paper(id: 1)).answer(.status(503)).answer(Paper.morning)
        let seed = try LaunchSeed(script)
        var statuses: [HTTPStatus?] = []
        for _ in 1...2 {
            let provider = try LaunchSeed.provider(
                or: Nothing(),
                arguments: seed.arguments,
                environment: seed.environment
            )
            let kiosk = KioskConnection(environment: KioskServer(), provider: provider, configuration: .patient)
            do {
                statuses.append(try await kiosk.response(at: .paper(id: 1)).status)
            } catch {
                statuses.append(error.response?.status)
            }
        }
        #expect(statuses == [503, 200])
        #expect(await script.end().isEmpty)
    }

    @Test func aSeededValueIsRefusedForAConnectionWithItsOwnCoders() async throws {
        let line = UInt(#line + 1)
        script.on(.paper(id: 1)).answer(Paper.morning)
        let provider = try ScriptAdapter.seed.provider(for: script)
        var configuration = ConnectionConfiguration.patient
        configuration.use(JSONCoding(dates: .iso8601, keys: .snakeCase))
        let kiosk = KioskConnection(environment: KioskServer(), provider: provider, configuration: configuration)
        let error = await #expect(throws: ApiConnectorError.self) { try await kiosk.send(at: .paper(id: 1)) }
        #expect(error?.kind == .unmatched)
        let issues = await script.end()
        #expect(issues.map(\.kind) == [.unfit])
        #expect(issues.map(\.place.line) == [line])
        #expect(issues.first?.description.contains("Script(for:in:configuration:)") == true)
    }

    @Test func aSeededValueOfAScriptWithTheConnectionsCodersIsAnswered() async throws {
        var configuration = ConnectionConfiguration.patient
        configuration.use(JSONCoding(dates: .iso8601, keys: .snakeCase))
        let script = Script(for: Kiosk.self, in: KioskServer(), configuration: configuration)
        script.on(.paper(id: 1)).answer(Paper.morning)
        let provider = try ScriptAdapter.seed.provider(for: script)
        let kiosk = KioskConnection(environment: KioskServer(), provider: provider, configuration: configuration)
        #expect(try await kiosk.value(Paper.self, at: .paper(id: 1)) == .morning)
        #expect(await script.end().isEmpty)
    }

    @Test func aSeedSupportsEveryMatcherAndEveryShapeOfAnswer() async throws {
        let order = RequestMatcher.method(.post).and(.json(["count": 1])).or(.query("a", "b"))
        script.on(matching: order, .not(.path("/v2/{any}"))).answer(.status(201), times: 2)
        script.on(matching: .method(.put), .form(["a": "b c"]), .header("X-A", "1")).answer(.status(202))
        script.on(matching: .body(Data([0, 255]))).answer(.data(Data([255, 0])).after(.zero, on: .system))
        script.on(matching: .path("/v1/cut")).answer(
            .json(Paper.morning).chunked(byteCount: 9).pausing(.milliseconds(1), on: .system)
        )
        script.on(matching: .path("/v1/lost")).answer(.failure(URLError(.notConnectedToInternet)))
        script.on(matching: .path("/v1/open")).answer(.failure(ApiConnectorError(.circuitOpen, "it is open")))
        let kiosk = try ScriptAdapter.seed.connection(to: script)
        func url(_ path: String) throws -> URL { try #require(URL(string: "http://kiosk.example.com\(path)")) }

        try await kiosk.send(at: try url("/v1/orders"), method: .post, body: .json(["count": 1]))
        try await kiosk.send(at: try url("/v1/orders?a=b"))
        let form = try await kiosk.response(
            at: try url("/v1/f"),
            method: .put,
            body: .form(["a": "b c"]),
            options: CallOptions(headers: ["X-A": "1"])
        )
        #expect(form.status == 202)
        #expect(
            try await kiosk.data(at: try url("/v1/bytes"), method: .post, body: .data(Data([0, 255])))
                == Data([255, 0])
        )
        #expect(try await kiosk.value(Paper.self, at: try url("/v1/cut")) == .morning)
        let lost = await #expect(throws: ApiConnectorError.self) { try await kiosk.data(at: try url("/v1/lost")) }
        #expect((lost?.underlying as? URLError)?.code == .notConnectedToInternet)
        let open = await #expect(throws: ApiConnectorError.self) { try await kiosk.data(at: try url("/v1/open")) }
        #expect(open?.kind == .circuitOpen)
        #expect(open?.detail == "it is open")
        #expect(await script.end().isEmpty)
    }

    @Test func aLargeSeedIsInAFileThatIsRemovedWithTheScript() async throws {
        var script: Script<Kiosk>? = Script(for: Kiosk.self, in: KioskServer())
        let title = String(repeating: "tea ", count: 50_000)
        script?.on(.paper(id: 1)).answer(Paper(id: 1, title: title))
        let (path, environment) = try {
            let seed = try LaunchSeed(try #require(script))
            let entry = try #require(seed.environment[LaunchSeed.variable])
            return (try #require(entry.split(separator: "file:").last.map(String.init)), seed.environment)
        }()
        #expect(FileManager.default.fileExists(atPath: path))
        let provider = try LaunchSeed.provider(or: Nothing(), arguments: ["--seeded"], environment: environment)
        let kiosk = KioskConnection(environment: KioskServer(), provider: provider, configuration: .patient)
        #expect(try await kiosk.value(Paper.self, at: .paper(id: 1)).title == title)
        #expect(await script?.end().isEmpty == true)
        script = nil
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    // MARK: - Refusing to start

    private func refusal(_ text: String?, arguments: [String] = ["--seeded"]) throws -> String {
        let environment = text.map { [LaunchSeed.variable: $0] } ?? [:]
        return try #require(throws: FixtureError.self) {
            _ = try LaunchSeed.provider(or: Nothing(), arguments: arguments, environment: environment)
        }.description
    }

    @Test(
        arguments: [
            (nil, "the launch arguments have --seeded, but the environment has no APICONNECTOR_SEED"),
            ("", "it is not a seed: \"\""),
            ("{}", "it is not a seed: \"{}\""),
            ("1", "its head is truncated: \"1\""),
            (
                "2 10 base64:AAAA",
                "it has version 2, and this program reads version 1; build the program and its test with the same version "
                    + "of ApiConnectorTesting"
            ),
            ("1 10 base64:AAAA", "it has 3 bytes instead of 10; it was truncated"),
            ("1 10 base64:AAA", "its document is not base64; it was truncated or changed"),
            ("1 10 file:nowhere.json", "its file nowhere.json is missing, or is not a seed's file"),
        ] as [(String?, String)]
    )
    func checkL_aSeedThatCannotBeReadStopsTheLaunchAndSaysWhy(_ text: String?, _ reason: String) throws {
        #expect(try refusal(text) == "The launch seed is refused: \(reason).")
    }

    @Test func checkL_aTruncatedSeedIsRefused() throws {
        script.on(.paper(id: 1)).answer(Paper.morning, times: .anyNumber)
        let entry = try #require(try LaunchSeed(script).environment[LaunchSeed.variable])
        for count in 0..<entry.count {
            #expect(try refusal(String(entry.prefix(count))).hasPrefix("The launch seed is refused: "))
        }
    }

    @Test func checkL_aDocumentThatIsNotAScriptIsRefused() throws {
        let document = Data(#"{"port":1}"#.utf8)
        let text = try refusal("1 \(document.count) base64:\(document.base64EncodedString())")
        #expect(text.hasPrefix("The launch seed is refused: its document does not decode: "))
    }

    @Test func aSeedThatIsPresentButNotSelectedStopsTheLaunch() throws {
        let text = try refusal("1 0 base64:", arguments: ["program"])
        #expect(
            text
                == "The launch seed is refused: the environment has APICONNECTOR_SEED, but the "
                + "launch arguments lack --seeded; "
                + "launch with the seed's arguments, or without its environment."
        )
    }

    @Test func withoutASeedTheProgramUsesItsOwnProvider() async throws {
        let provider = try LaunchSeed.provider(or: Nothing(), arguments: ["program"], environment: [:])
        let kiosk = KioskConnection(environment: KioskServer(), provider: provider)
        let error = await #expect(throws: ApiConnectorError.self) { try await kiosk.data(at: .paper(id: 1)) }
        #expect(error?.detail == "the real network was asked")
    }

    @Test func aSeedWhoseTestHasEndedStopsTheLaunch() throws {
        let environment = try {
            let script = Script(for: Kiosk.self, in: KioskServer())
            return try LaunchSeed(script).environment
        }()
        let text = try #require(throws: FixtureError.self) {
            _ = try LaunchSeed.provider(or: Nothing(), arguments: ["--seeded"], environment: environment)
        }.description
        #expect(text.hasPrefix("The launch seed is refused: the test cannot be reached on port "))
    }

    @Test func aProgramWithAnotherKeyIsNotAnswered() throws {
        let seed = try LaunchSeed(script)
        let port = try seed.document().port
        let error = try #require(throws: FixtureError.self) { _ = try SeedLink.connect(to: port, key: "guess") }
        #expect(error.description.contains("does not know the seed"))
    }
}

extension LaunchSeed {
    fileprivate func document() throws -> SeedDocument {
        let text = try #require(environment[Self.variable])
        return try JSONDecoder().decode(SeedDocument.self, from: try SeedText.document(in: text))
    }
}

/// A simulated program, which sends the messages of a launched program over its connection.
private struct Program {
    let socket: Socket

    init(of seed: LaunchSeed) throws {
        let document = try seed.document()
        socket = try Socket.connect(to: document.port)
        try say(.hello(key: document.key))
    }

    func say(_ message: SeedMessage.FromProgram) throws {
        try socket.send(try SeedMessage.line(message))
    }
}
