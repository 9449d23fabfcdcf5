// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

// "Workshop: Web API Mocking": a screen has four states, and a test reaches each by swapping what answers.
import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import Testing

private struct Pug: Codable, Equatable {
    let pugId: String
    let name: String
    let photo: String

    static let sample = Pug(pugId: "1", name: "Otto", photo: "otto.jpg")
}

private enum PugRouter: ApiRouter {
    typealias EnvironmentType = Place
    case list
    case info(pugId: String)

    var path: ApiPath {
        switch self {
        case .list: "/api/list.json"
        case .info(let pugId): "/api/info/\(pugId).json"
        }
    }
}

private enum ScreenState: Equatable {
    case loading
    case error(ApiConnectorError.Kind)
    case empty
    case normal([Pug])
}

/// The workshop's screen, whose content depends on the result of its call.
private actor PugList<Provider: DataRequestType> {
    private(set) var state = ScreenState.loading
    private let api: NetworkConnector<Provider, PugRouter>

    init(_ provider: Provider, at place: Place = Place()) {
        api = NetworkConnector(environment: place, provider: provider, configuration: .patient)
    }

    func refresh() async {
        state = .loading
        do {
            let pugs = try await api.value([Pug].self, at: .list)
            state = pugs.isEmpty ? .empty : .normal(pugs)
        } catch {
            state = .error(error.kind)
        }
    }
}

private struct NormalPugs: ResponseProvider {
    func response(for request: ApiRequest) async throws -> TestConnectorResponse { .json([Pug.sample]) }
}

private struct NoPugs: ResponseProvider {
    func response(for request: ApiRequest) async throws -> TestConnectorResponse { .json([Pug]()) }
}

private struct BrokenPugs: ResponseProvider {
    func response(for request: ApiRequest) async throws -> TestConnectorResponse { .status(500) }
}

struct Seed002Tests {
    private func state(_ list: PugList<some DataRequestType>) async -> ScreenState {
        await list.refresh()
        return await list.state
    }

    @Test func theStatesFollowFromTheProvidersType() async {
        #expect(await state(PugList(TestConnector<NormalPugs>())) == .normal([.sample]))
        #expect(await state(PugList(TestConnector<NoPugs>())) == .empty)
        #expect(await state(PugList(TestConnector<BrokenPugs>())) == .error(.unacceptableStatus))
    }

    @Test func theStatesFollowFromAClosure() async {
        #expect(await state(PugList(TestConnector { _ in .json([Pug.sample]) })) == .normal([.sample]))
        #expect(await state(PugList(TestConnector { _ in .json([Pug]()) })) == .empty)
        #expect(
            await state(PugList(TestConnector { _ in throw URLError(.notConnectedToInternet) }))
                == .error(.cannotConnect)
        )
        #expect(await state(PugList(TestConnector { _ in .json(["not": "a list"]) })) == .error(.decodingFailed))
    }

    @Test func itIsLoadingUntilAnAnswerArrives() async throws {
        let isAsked = Gate("request")
        let list = PugList(
            TestConnector { _ in
                isAsked.open()
                return .never
            }
        )
        let refresh = Task { await list.refresh() }
        try await isAsked.opened()
        #expect(await list.state == .loading)
        refresh.cancel()
        await refresh.value
        #expect(await list.state == .error(.cancelled))
    }

    /// The workshop's three places: in the client above, by a proxy or a server here.
    @Test(arguments: Wire.sockets)
    func theStatesFollowFromAServer(_ wire: Wire) async throws {
        for (text, status, expected) in [
            (#"[{"pugId":"1","name":"Otto","photo":"otto.jpg"}]"#, 200, ScreenState.normal([.sample])),
            ("[]", 200, .empty), ("down", 503, .error(.unacceptableStatus)),
        ] {
            let web = try ScriptedWeb(over: wire) { _ in .json(text, status: status) }
            #expect(await state(PugList(web.provider, at: web.place)) == expected)
            #expect(web.requests.map(\.target) == ["/api/list.json"])
        }
    }

    /// The three places by one script: in the client, as the proxy of a client whose base URL cannot be changed, and as
    /// the server that it talks to.
    @Test(arguments: MockPlace.all)
    func theStatesFollowFromOneScriptInThreePlaces(_ mock: MockPlace) async throws {
        for (answer, expected) in [
            (TestConnectorResponse.json([Pug.sample]), ScreenState.normal([.sample])), (.json([Pug]()), .empty),
            (.status(503), .error(.unacceptableStatus)),
            (.json([Pug.sample]).failing(.beforeHead), .error(.connectionLost)),
        ] {
            let script = Script(for: PugRouter.self, in: Place())
            script.on(.list).answer(answer)
            let list = try mock.list(script)
            #expect(await state(list) == expected)
            #expect(await script.end().isEmpty)
        }
    }

    @Test(arguments: MockPlace.all)
    func itIsLoadingInThreePlaces(_ mock: MockPlace) async throws {
        let script = Script(for: PugRouter.self, in: Place())
        let answer = script.on(.list).hold()
        let list = try mock.list(script)
        let refresh = Task { await list.refresh() }
        _ = try await answer.request()
        #expect(await list.state == .loading)
        answer.release([Pug.sample])
        await refresh.value
        #expect(await list.state == .normal([.sample]))
        #expect(await script.end().isEmpty)
    }
}

enum MockPlace: Sendable {
    case client, proxy, server

    static let all: [MockPlace] = {
        #if Curl && os(Linux) || !canImport(FoundationNetworking)
        [.client, .proxy, .server]
        #else
        // URLSession on Linux has no proxy but that of the environment.
        [.client, .server]
        #endif
    }()

    fileprivate func list(_ script: Script<PugRouter>) throws -> PugList<AnyProvider> {
        switch self {
        case .client:
            return PugList(AnyProvider(TestConnector(script)))
        case .server:
            return PugList(
                AnyProvider(SystemProvider()),
                at: Place(host: LoopbackServer.host, port: try ScriptServer(script).port)
            )
        case .proxy:
            let port = try ScriptServer(script).port
            #if Curl && os(Linux)
            var configuration = CurlConfiguration.patient
            configuration.proxy = .url(try #require(URL(string: "http://127.0.0.1:\(port)")))
            return PugList(AnyProvider(CurlProvider(configuration: configuration)))
            #else
            let configuration = URLSessionConfiguration.ephemeral
            configuration.connectionProxyDictionary = ["HTTPEnable": 1, "HTTPProxy": "127.0.0.1", "HTTPPort": port]
            return PugList(AnyProvider(URLSessionProvider(configuration: configuration)))
            #endif
        }
    }
}
