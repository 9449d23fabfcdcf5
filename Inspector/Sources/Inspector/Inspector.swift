// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector
import FlyingFox
import FlyingSocks

/// A page in a browser that shows the exchanges of a running program.
///
/// ```swift
/// let provider = SystemProvider().inspected().retrying()
/// ```
///
/// The page is served on the loopback interface, so no other machine can reach it. Its address contains a random token.
/// A request without the token gets status 403. Secrets are replaced before anything leaves the ``archive``.
public final class Inspector: Sendable {
    /// The default inspector of ``ApiConnector/DataRequestType/inspected(by:)``; nil in a release build.
    ///
    /// In a debug build it serves the page from its first use, and prints the address to standard error.
    public static let automatic: Inspector? = isDebugBuild ? started() : nil

    private static var isDebugBuild: Bool {
        #if DEBUG
        true
        #else
        false
        #endif
    }

    /// The store of the exchanges that the page shows.
    public let archive: ExchangeArchive

    let token: String
    let server: HTTPServer

    /// Makes an inspector, which does not serve the page before ``run()``.
    ///
    /// - Parameters:
    ///   - exchangeCount: The maximum number of exchanges to keep; 1,000 by default.
    ///   - bodyByteCount: The maximum number of bytes to show per body; 64 KiB by default.
    ///   - redactor: Replaces secrets; the standard redactor by default.
    ///   - port: The port on 127.0.0.1; 0, the default, chooses a free port.
    public init(
        exchangeCount: Int = 1_000,
        bodyByteCount: Int = 64 * 1024,
        redacting redactor: Redactor = .standard,
        port: UInt16 = 0
    ) {
        let changes = ChangeFeed(exchangeCount: exchangeCount)
        archive = ExchangeArchive(
            exchangeCount: exchangeCount,
            bodyByteCount: bodyByteCount,
            redacting: redactor,
            onChange: { changes.add($0) }
        )
        let bits = (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }
        token = bits.joined()
        let page = InspectorPage(archive: archive, changes: changes, token: token)
        server = HTTPServer(
            config: HTTPServer.Configuration(
                address: .loopbackIPv4(port: port),
                pool: PromptPool(wrapped: HTTPServer.defaultPool()),
                logger: .disabled
            ),
            handler: page
        )
    }

    /// Serves the page until the task is canceled.
    ///
    /// Call it in its own task, because it does not return. ``address()`` has the address of the page.
    ///
    /// - Throws: The system's error if the port is already in use.
    public func run() async throws {
        try await server.run()
    }

    /// Waits until the page is available, and returns its address with the token.
    public func address() async throws -> URL {
        try await server.waitUntilListening()
        guard let port = await server.listeningAddress?.port,
            let url = URL(string: "http://127.0.0.1:\(port)/\(token)/")
        else { throw SocketError.unsupportedAddress }
        return url
    }

    private static func started() -> Inspector {
        let inspector = Inspector()
        Task.detached(priority: .utility) {
            do {
                try await inspector.run()
            } catch {
                write("there is no page, because its server failed: \(error)")
            }
        }
        Task.detached(priority: .utility) {
            guard let address = try? await inspector.address() else { return }
            write(address.absoluteString)
        }
        return inspector
    }

    private static func write(_ line: String) {
        FileHandle.standardError.write(Data("Inspector: \(line)\n".utf8))
    }
}

extension DataRequestType {
    /// Returns this provider, wrapped to show each exchange on the page of an inspector.
    ///
    /// Put it directly around the transport, inside retrying providers, so that the page shows each attempt.
    ///
    /// - Parameter inspector: The inspector; ``Inspector/automatic`` by default, which is nil in a release build. With
    ///   nil, nothing is shown.
    public func inspected(by inspector: Inspector? = .automatic) -> some DataRequestType {
        archived(in: inspector?.archive)
    }
}

extension SocketAddress where Self == sockaddr_in {
    /// 127.0.0.1, which no other machine can reach.
    fileprivate static func loopbackIPv4(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in.inet(port: port)
        address.sin_addr = in_addr(s_addr: in_addr_t(0x7F00_0001).bigEndian)
        return address
    }
}

extension Socket.Address {
    fileprivate var port: UInt16? {
        if case .ip4(_, let port) = self { port } else { nil }
    }
}
