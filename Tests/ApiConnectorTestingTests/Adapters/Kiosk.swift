// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import Testing

struct KioskServer: ApiEnvironment {
    var host: String { "kiosk.example.com" }
    var basePath: String { "/v1" }
}

enum Kiosk: ApiRouter {
    typealias EnvironmentType = KioskServer
    case papers(page: Int)
    case paper(id: Int)
    case order(count: Int)
    case peek

    var path: ApiPath {
        switch self {
        case .papers: "/papers"
        case .paper(let id): "/papers/\(id)"
        case .order, .peek: "/orders"
        }
    }

    var queryItems: [URLQueryItem]? {
        if case .papers(let page) = self { [URLQueryItem(name: "page", value: "\(page)")] } else { nil }
    }

    var method: HTTPMethod {
        switch self {
        case .papers, .paper: .get
        case .order: .post
        case .peek: .head
        }
    }

    var headers: HTTPHeaders { ["X-Kiosk": "corner"] }

    var body: RequestBody {
        if case .order(let count) = self { .json(["count": count]) } else { .empty }
    }
}

struct Paper: Codable, Equatable, Sendable {
    var id: Int
    var title: String

    static let morning = Paper(id: 1, title: "Morning")
    static let evening = Paper(id: 2, title: "Evening / Ä")
}

typealias KioskConnection = NetworkConnector<AnyProvider, Kiosk>

/// One of the ways in which a script reaches the code under test, with a provider on the other end of it.
enum ScriptAdapter: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case inProcess, session, server, proxy, seed

    var testDescription: String { rawValue }

    /// A client made by a proxy's URL is to be had on Linux, over libcurl, and on Apple's systems from URLSession.
    static let all: [ScriptAdapter] = {
        #if Curl && os(Linux) || !canImport(FoundationNetworking)
        allCases
        #else
        allCases.filter { $0 != .proxy }
        #endif
    }()

    func connection(to script: Script<Kiosk>) throws -> KioskConnection {
        KioskConnection(environment: KioskServer(), provider: try provider(for: script), configuration: .patient)
    }

    func provider(for script: Script<Kiosk>) throws -> AnyProvider {
        switch self {
        case .inProcess:
            return AnyProvider(TestConnector(script))
        case .session:
            let bridge = try SessionBridge(script, delivery: .inChunks)
            return AnyProvider(URLSessionProvider(configuration: bridge.configuration))
        case .server:
            return AnyProvider(Readdressed(to: try ScriptServer(script).url))
        case .proxy:
            return try Self.client(ofProxy: try ScriptServer(script).port)
        case .seed:
            let seed = try LaunchSeed(script)
            return try LaunchSeed.provider(or: Nothing(), arguments: seed.arguments, environment: seed.environment)
        }
    }

    static func client(ofProxy port: Int) throws -> AnyProvider {
        #if Curl && os(Linux)
        var configuration = CurlConfiguration.patient
        configuration.proxy = .url(try #require(URL(string: "http://127.0.0.1:\(port)")))
        return AnyProvider(CurlProvider(configuration: configuration))
        #else
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [
            "HTTPEnable": 1, "HTTPProxy": "127.0.0.1", "HTTPPort": port,
            "HTTPSEnable": 1, "HTTPSProxy": "127.0.0.1", "HTTPSPort": port,
        ]
        return AnyProvider(URLSessionProvider(configuration: configuration))
        #endif
    }
}

/// A provider that is never called.
struct Nothing: DataRequestType {
    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        throw ApiConnectorError(.other, "the real network was asked", request: request)
    }
}
