// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import Testing

private enum SeededServer: String, ApiEnvironment {
    case production = "shop.example.com"
}

private struct SeededTea: ApiModel, Equatable {
    let name: String
}

private enum SeededShop: String, ApiRouter {
    typealias EnvironmentType = SeededServer
    case teas
}

/// Stands for the one of XCTest on Apple's systems.
private final class XCUIApplication {
    var launchArguments = ["app"]
    var launchEnvironment: [String: String] = [:]
    private(set) var provider: AnyProvider?

    func launch() {
        provider = try? LaunchSeed.provider(
            or: SystemProvider(),
            arguments: launchArguments,
            environment: launchEnvironment
        )
    }
}

@MainActor private enum ShopApp {
    static var provider: AnyProvider?
    static func main() {}
}

@MainActor private func program() async throws {
    let provider = try LaunchSeed.provider(or: SystemProvider())
    let shop = NetworkConnector(environment: .production, provider: provider, router: SeededShop.self)
    _ = shop

    @MainActor enum Launch {
        static func main() throws {
            ShopApp.provider = try LaunchSeed.provider(or: SystemProvider())
            ShopApp.main()
        }
    }
    try Launch.main()
}

/// A client that knows nothing of this library.
private struct WeatherClient: Sendable {
    var session = URLSession(configuration: .ephemeral)
    var baseURL = URL(string: "http://shop.example.com:80/") ?? URL(filePath: "/")

    func teas() async throws -> Data {
        try await session.data(from: baseURL.appending(path: "teas")).0
    }
}

@Suite(.timeLimit(.minutes(10)))
struct AdapterSnippets {
    @Test func startsWithItsOwnProvider() async throws {
        try await program()
        #expect(await ShopApp.provider != nil)
    }

    @Test func seedsAnApp() async throws {
        func launched(_ app: XCUIApplication) throws -> NetworkConnector<AnyProvider, SeededShop> {
            NetworkConnector(environment: .production, provider: try #require(app.provider))
        }
        let script = Script(for: SeededShop.self, in: .production)
        let teas = script.on(.teas)
        let answer = teas.hold()
        teas.answer(.status(503))

        let seed = try LaunchSeed(script)
        let app = XCUIApplication()
        app.launchArguments += seed.arguments
        app.launchEnvironment.merge(seed.environment) { $1 }
        app.launch()

        let shop = try launched(app)
        let loading = Task { try await shop.value([SeededTea].self, at: .teas) }
        _ = try await answer.request()
        // Here the screen shows that it is loading.
        answer.release([SeededTea(name: "green")])
        #expect(try await loading.value == [SeededTea(name: "green")])
        _ = try? await shop.data(at: .teas)
        #expect(await script.end().isEmpty)
    }

    @Test func answersASession() async throws {
        let script = Script(for: SeededShop.self, in: .production)
        script.on(.teas).answer([SeededTea(name: "green")], times: 2)
        let bridge = try SessionBridge(script)
        let client = WeatherClient(session: bridge.session)
        #expect(try await client.teas() == Data(#"[{"name":"green"}]"#.utf8))
        let session = URLSession(configuration: bridge.configuration)
        #expect(try await WeatherClient(session: session).teas() == Data(#"[{"name":"green"}]"#.utf8))
        #expect(await script.end().isEmpty)
    }

    @Test func answersAsAServer() async throws {
        let script = Script(for: SeededShop.self, in: .production)
        script.on(.teas).answer([SeededTea(name: "green")])
        let server = try ScriptServer(script)
        let client = WeatherClient(baseURL: server.url)
        #expect(try await client.teas() == Data(#"[{"name":"green"}]"#.utf8))
        #expect(await script.end().isEmpty)
    }

    enum Socket {
        enum ShopServer: ApiEnvironment {
            case production
            case loopback(port: Int)

            var host: String {
                switch self {
                case .production: "shop.example.com"
                case .loopback: "127.0.0.1"
                }
            }

            var scheme: HTTPScheme {
                if case .production = self { .https } else { .http }
            }

            var port: Int? {
                if case .loopback(let port) = self { port } else { nil }
            }
        }

        struct Tea: ApiModel {
            let name: String
        }

        enum Shop: String, ApiRouter {
            typealias EnvironmentType = ShopServer
            case teas
        }
    }

    @Test func answersAConnectionOverASocket() async throws {
        typealias Shop = Socket.Shop
        typealias Tea = Socket.Tea
        let script = Script(for: Shop.self, in: .production)
        script.on(.teas).answer([Tea(name: "green")])
        let server = try ScriptServer(script)
        let shop = NetworkConnector(
            environment: .loopback(port: server.port),
            provider: SystemProvider(),
            router: Shop.self
        )
        #expect(try await shop.value([Tea].self, at: .teas).count == 1)
        #expect(await script.end().isEmpty)
    }

    @Test func answersAsAProxy() async throws {
        let script = Script(for: SeededShop.self, in: .production)
        let proxied = try ScriptServer(script, passingUnmatchedTo: SystemProvider())
        let environment = ["http_proxy": "http://127.0.0.1:\(proxied.port)"]
        #expect(environment.count == 1)
        #expect(await script.end().isEmpty)
    }
}
