// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if os(Linux)
public import Foundation
import Support

/// Runs HAProxy for a test, on a free port, with TLS and its own certificate.
///
/// The server ends when the last reference to it is released.
public final class HAProxy: Sendable {
    /// Whether the program is installed.
    public static let isInstalled = ServerFolder.isInstalled("haproxy")

    /// The server's treatment of a connection.
    public enum Role: Sendable {
        /// Answers each request itself, over HTTP/2 and HTTP/1.1, after its body has arrived.
        ///
        /// A connection is closed after it was idle for a number of milliseconds. Header fields of each response
        /// describe the connection: `X-Connection` is the client's port, `X-Protocol` is `1.1` or `2.0`, and `X-TLS` is
        /// the version of TLS. `X-Worker` is the process id, which changes with each reload.
        case server(idleMilliseconds: Int)
        /// Decrypts TLS and forwards the bytes to a port of 127.0.0.1, and forwards the response's bytes back.
        ///
        /// `alpn` is the protocol that the TLS handshake selects, such as `h2`; none by default.
        case tunnel(to: UInt16, alpn: String? = nil)
    }

    /// The certificate that signs the server's certificate.
    public let authority: URL
    /// The port.
    public let port: UInt16

    private let folder: ServerFolder

    /// Starts the server, which listens when this returns.
    public init(_ role: Role) throws {
        folder = try ServerFolder(for: "haproxy")
        authority = folder.url.appending(path: "server.pem")
        try folder.makeCertificate()
        port = try folder.start("haproxy -W -f haproxy.conf -p haproxy.pid", portCount: 1) { ports in
            Self.configuration(ports[0], role)
        }[0]
    }

    /// A URL over TLS.
    public func url(_ path: String) throws -> URL {
        guard let url = URL(string: "https://127.0.0.1:\(port)\(path)") else {
            throw ServerError(text: "not a path: \(path)")
        }
        return url
    }

    /// Reloads the settings without waiting for the reload.
    ///
    /// A new process serves new connections. The old process ends after it has answered its requests.
    public func reload() throws {
        try folder.signal(SIGUSR2)
    }

    /// Kills the server.
    ///
    /// The kernel then closes its connections without a TLS close_notify.
    public func kill() throws {
        try folder.signal(SIGKILL, toAll: true)
    }

    /// Ends the server after it has answered all received requests.
    ///
    /// - Returns: The number of times that the server processed each request, by `X-Request-Id`.
    public func processedCounts() throws -> [String: Int] {
        try folder.stop("USR1")
        let log = try String(contentsOf: folder.url.appending(path: "output"), encoding: .utf8)
        let ids = log.split(separator: "\n").compactMap { $0.hasPrefix("id=") ? $0.dropFirst(3) : nil }
            // A connection without a request is logged without an id.
            .filter { $0 != "-" }
        return ids.reduce(into: [:]) { $0[String($1), default: 0] += 1 }
    }

    private static func configuration(_ port: UInt16, _ role: Role) -> String {
        let common = """
            global
                maxconn 2000
                nbthread 1
            defaults
                timeout connect 60s
                timeout server 60s

            """
        switch role {
        case .server(let milliseconds):
            return common + """
                frontend server
                    mode http
                    bind 127.0.0.1:\(port) ssl crt server.pem alpn h2,http/1.1
                    timeout client 60s
                    timeout http-keep-alive \(milliseconds)ms
                    timeout http-request 60s
                    log stdout format raw daemon
                    log-format id=%[var(txn.id)]
                    http-request set-var(txn.id) req.hdr(x-request-id)
                    http-request set-log-level silent unless { var(txn.id) -m found }
                    option http-buffer-request
                    http-request return status 200 content-type text/plain string hello \
                hdr X-Connection %[src_port] hdr X-Protocol %[req.ver] hdr X-TLS %[ssl_fc_protocol] \
                hdr X-Worker %pid

                """
        case .tunnel(let target, let alpn):
            return common + """
                listen tunnel
                    mode tcp
                    timeout client 60s
                    bind 127.0.0.1:\(port) ssl crt server.pem\(alpn.map { " alpn \($0)" } ?? "")
                    server target 127.0.0.1:\(target)

                """
        }
    }
}
#endif
