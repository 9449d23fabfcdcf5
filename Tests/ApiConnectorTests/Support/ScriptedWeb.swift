// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting

/// How a connection of a test reaches its servers.
enum Wire: CaseIterable, Sendable {
    case testConnector, system, urlSession

    static let sockets: [Wire] = [.system, .urlSession]

    /// Those that can verify a server's certificate.
    static let secureSockets = sockets.filter { $0.isFoundationNetworking ? canVerify : true }

    private static var canVerify: Bool {
        #if Curl && os(Linux)
        Libcurl.hasAuthorities
        #else
        true
        #endif
    }

    /// Whether it is URLSession on Linux, with its limits; see the page "URLSession on Linux".
    var isFoundationNetworking: Bool {
        #if Curl && os(Linux)
        self == .urlSession
        #elseif canImport(FoundationNetworking)
        self != .testConnector
        #else
        false
        #endif
    }

    /// The transport; for canned answers there is none.
    var transport: AnyProvider {
        switch self {
        case .urlSession: AnyProvider(URLSessionProvider(configuration: .ephemeral))
        case .system, .testConnector: AnyProvider(SystemProvider())
        }
    }
}

/// A request as a server has seen it.
struct SeenRequest: Sendable {
    let method: String
    let url: String
    let headers: [(name: String, value: String)]
    let body: Data

    func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// The URL from its path on.
    var target: Substring {
        url.dropFirst("http://".count).drop { $0 != "/" }
    }
}

/// Two origins that answer by one script, over real sockets or canned.
final class ScriptedWeb: Sendable {
    typealias Script = @Sendable (SeenRequest) -> LoopbackResponse

    let provider: AnyProvider

    /// The two origins, without a slash at the end.
    let home, away: String

    /// The origin as texts show it, without a default port.
    var shownHome: String { home.replacing(/:80$/, with: "") }

    /// A URL as texts show it, without a default port.
    static func shown(_ url: URL) -> String { url.absoluteString.replacing(":80/", with: "/") }

    private let servers: [LoopbackServer]
    private let log: RequestLog

    init(over wire: Wire, _ script: @escaping Script) throws {
        let log = RequestLog()
        self.log = log
        guard wire != .testConnector else {
            servers = []
            (home, away) = ("http://api.example.com:80", "http://other.example.com:80")
            provider = AnyProvider(
                TestConnector { request in
                    let seen = SeenRequest(
                        method: request.method.rawValue,
                        url: request.url.absoluteString,
                        headers: request.headers.map { ($0.name.rawValue, $0.value) },
                        body: try await request.body.collect(upTo: 1 << 20)
                    )
                    let answer = log.answer(seen, script)
                    var headers = HTTPHeaders()
                    for field in answer.headers { headers.append(HTTPHeaders.Name(field.name), field.value) }
                    return .data(answer.body, status: HTTPStatus(rawValue: answer.status), headers: headers)
                }
            )
            return
        }
        servers = try (0..<2).map { _ in
            try LoopbackServer.responding { request in
                let seen = SeenRequest(
                    method: request.method,
                    url: "http://\(request.header("Host") ?? "")\(request.target)",
                    headers: request.headers,
                    body: request.body
                )
                return log.answer(seen, script)
            }
        }
        let origins = servers.map { "http://\(LoopbackServer.host):\($0.port)" }
        (home, away) = (origins[0], origins[1])
        provider = wire.transport
    }

    /// The requests in the order in which they came.
    var requests: [SeenRequest] { log.requests }

    /// The environment of the first origin.
    var place: Place {
        servers.first.map { Place(host: LoopbackServer.host, port: $0.port) } ?? Place()
    }

    /// A connection to the first origin.
    func connection(
        headers: HTTPHeaders = HTTPHeaders(),
        redirects: RedirectPolicy = .standard
    ) -> NetworkConnector<AnyProvider, Endpoint<ApiPath>> {
        NetworkConnector(
            environment: place,
            provider: provider,
            // Without limits: a machine that is busy with other tests is no server that stalls.
            configuration: ConnectionConfiguration(headers: headers, timeouts: .unlimited, redirects: redirects)
        )
    }
}

private final class RequestLog: Sendable {
    private let seen = Locked<[SeenRequest]>([])

    var requests: [SeenRequest] { seen.withLock { $0 } }

    func answer(_ request: SeenRequest, _ script: ScriptedWeb.Script) -> LoopbackResponse {
        seen.withLock { $0.append(request) }
        return script(request)
    }
}
