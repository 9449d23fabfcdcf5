// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

@testable import ApiConnectorTestServers
import ApiConnector
import Testing

@testable import ApiConnectorTesting

/// An injected fault against the real one: the same facts, by the default transport and by injection.
@Suite(.timeLimit(.minutes(10))) struct FaultTruthTests {}

extension FaultTruthTests {
    /// The parts of an error without its text.
    struct Facts: Equatable {
        var kind: ApiConnectorError.Kind?
        var stage: ApiConnectorError.Stage?
        var method: HTTPMethod?
        var attempt: Int?
        var status: HTTPStatus?
        var isTimed = false
        var hasUnderlying = false

        init(_ error: ApiConnectorError?) {
            kind = error?.kind
            stage = error?.stage
            method = error?.request?.method
            attempt = error?.request?.attempt
            status = error?.response?.status
            isTimed = error?.elapsed != nil
            hasUnderlying = error?.underlying != nil
        }
    }

    struct Place: ApiEnvironment {
        var host = LoopbackServer.host
        var port: Int?
    }

    enum Route: String, ApiRouter {
        typealias EnvironmentType = Place
        case teas = "/teas"
    }

    /// A server that really has each fault; nil for a missing server.
    static let servers: [(fault: String, serve: (@Sendable (LoopbackConnection) throws -> Void)?)] = [
        ("refused@send", nil),
        (
            "reset@head",
            { connection in
                _ = try connection.readRequest()
                connection.reset()
            }
        ),
        ("truncated@head", saying("HTTP/1.1 200 OK\r\nContent-Le")),
        ("malformed@head", saying("SSH-2.0-OpenSSH_9.2\r\nand more of it\r\n\r\n")),
        ("garbage@head", saying("\u{1}\u{2}\u{3}\u{4} no status line\r\n\r\n")),
        ("truncated@4", saying("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123")),
        (
            "reset@4",
            { connection in
                _ = try connection.readRequest()
                try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123")
                connection.reset()
            }
        ),
        ("malformed@4", saying("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n0123\r\nzz\r\n")),
        ("truncated@end", saying("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\n0123456789\r\n")),
        ("malformed@end", saying("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\n0123456789\r\nzz\r\n\r\n")),
    ]

    private static func saying(_ text: String) -> @Sendable (LoopbackConnection) throws -> Void {
        { connection in
            _ = try connection.readRequest()
            try connection.send(text)
            connection.close()
        }
    }

    // For some of these, URLSession on Linux ends the process.
    #if Curl && os(Linux) || !canImport(FoundationNetworking)
    @Test(arguments: servers.indices, [false, true])
    func injectedFaultsFailLikeRealOnes(_ index: Int, streamed: Bool) async throws {
        let (text, serve) = Self.servers[index]
        let server = try LoopbackServer { connection in try serve?(connection) }
        let refusing = try serve == nil ? RefusingPort() : nil
        defer { withExtendedLifetime(refusing) {} }
        let place = Place(port: refusing?.number ?? server.port)
        let real = try await failure(of: SystemProvider(), at: place, streamed: streamed)
        let plan = try #require(FaultPlan("GET /teas #1 \(text)"))
        let canned = TestConnector { _ in .data(Data("0123456789".utf8)) }.injecting(plan)
        let injected = try await failure(of: canned, at: place, streamed: streamed)
        #expect(Facts(injected) == Facts(real), "\(String(describing: real))")
        #expect(real != nil)
    }
    #endif

    private func failure(
        of provider: some DataRequestType,
        at place: Place,
        streamed: Bool
    ) async throws -> ApiConnectorError? {
        let api = NetworkConnector(
            environment: place,
            provider: provider,
            router: Route.self,
            configuration: ConnectionConfiguration(timeouts: .unlimited)
        )
        do throws(ApiConnectorError) {
            guard streamed else {
                _ = try await api.data(at: .teas)
                return nil
            }
            for try await _ in api.stream(at: .teas, as: .chunks) {}
            return nil
        } catch {
            return error
        }
    }
}
