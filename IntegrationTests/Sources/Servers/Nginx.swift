// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if os(Linux)
public import Foundation
import Support

/// Runs nginx for a test, on free ports, with its own certificate.
///
/// The server ends when the last reference to it is released.
///
/// Every response describes its connection in header fields: `X-Protocol`, `X-TLS`, `X-Connection` (its number) and
/// `X-Worker` (the process id, which changes with each reload).
public final class Nginx: Sendable {
    /// Whether the program is installed.
    public static let isInstalled = ServerFolder.isInstalled("nginx")

    /// The limits of a connection.
    public struct KeepAlive: Sendable {
        /// The maximum number of requests per connection; 100,000 by default.
        public var requestCount = 100_000
        /// The idle timeout of a connection in milliseconds; 75,000 by default.
        public var milliseconds = 75_000

        /// Makes limits that no test reaches.
        public init() {}
    }

    /// The folder of the server's files.
    ///
    /// `PUT` requests below `/up/` also write there.
    public let files: URL
    /// The certificate that signs the server's certificate.
    public let authority: URL
    /// The port for HTTP/1.1 and HTTP/2 over TLS.
    public let securePort: UInt16

    private let folder: ServerFolder
    private let plainPort: UInt16
    private let priorKnowledgePort: UInt16

    /// Starts the server, which listens when this returns.
    public init(_ keepAlive: KeepAlive = KeepAlive()) throws {
        folder = try ServerFolder(for: "nginx")
        files = folder.url.appending(path: "files")
        authority = folder.url.appending(path: "server.pem")
        try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
        try folder.makeCertificate()
        let ports = try folder.start("nginx -p \"$PWD\" -c nginx.conf -e error.log", portCount: 3) { ports in
            Self.configuration(ports, keepAlive)
        }
        (plainPort, securePort, priorKnowledgePort) = (ports[0], ports[1], ports[2])
    }

    /// A URL over plain HTTP/1.1.
    public func plain(_ path: String) throws -> URL {
        try url("http", plainPort, path)
    }

    /// A URL over TLS, with HTTP/1.1 or HTTP/2.
    public func secure(_ path: String) throws -> URL {
        try url("https", securePort, path)
    }

    /// A URL for HTTP/2 without TLS, by prior knowledge.
    public func priorKnowledge(_ path: String) throws -> URL {
        try url("http", priorKnowledgePort, path)
    }

    private func url(_ scheme: String, _ port: UInt16, _ path: String) throws -> URL {
        guard let url = URL(string: "\(scheme)://127.0.0.1:\(port)\(path)") else {
            throw ServerError(text: "not a path: \(path)")
        }
        return url
    }

    /// Reloads the settings and the certificate without waiting for the reload.
    ///
    /// A new worker serves new connections. The old worker ends after it has answered its requests.
    public func reload() throws {
        try folder.signal(SIGHUP)
    }

    /// Reloads, and waits until the previous worker has ended.
    ///
    /// - Parameter worker: The value of `X-Worker` in a response.
    public func reload(waitingForEndOf worker: String) throws {
        guard let process = pid_t(worker) else { throw ServerError(text: "not a process: \(worker)") }
        try reload()
        try folder.waitForEnd(of: process)
    }

    /// Replaces the certificate and its key, for connections after the next ``reload()``.
    public func renewCertificate() throws {
        try folder.makeCertificate()
    }

    /// Ends the server after it has answered all received requests.
    ///
    /// - Returns: The number of times that the server processed each request, by `X-Request-Id`.
    public func processedCounts() throws -> [String: Int] {
        try folder.stop("QUIT")
        let log = try String(contentsOf: folder.url.appending(path: "access.log"), encoding: .utf8)
        return log.split(separator: "\n").reduce(into: [:]) { $0[String($1), default: 0] += 1 }
    }

    private static func configuration(_ ports: [UInt16], _ keepAlive: KeepAlive) -> String {
        """
        daemon off;
        user \(NSUserName());
        worker_processes 1;
        pid nginx.pid;
        events { worker_connections 1024; }
        http {
            log_format id $http_x_request_id;
            map $http_x_request_id $has_id { "" 0; default 1; }
            access_log access.log id if=$has_id;
            client_body_temp_path body;
            client_max_body_size 0;
            proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
            keepalive_requests \(keepAlive.requestCount);
            keepalive_timeout \(keepAlive.milliseconds)ms;
            gzip on;
            gzip_types text/plain;
            default_type application/octet-stream;
            types { text/plain txt; }
            add_header X-Protocol $server_protocol always;
            add_header X-TLS $ssl_protocol always;
            add_header X-Connection $connection always;
            add_header X-Worker $pid always;
            add_header X-Expect $http_expect always;
            server {
                listen 127.0.0.1:\(ports[0]);
                listen 127.0.0.1:\(ports[1]) ssl http2;
                listen 127.0.0.1:\(ports[2]) http2;
                ssl_certificate server.pem;
                ssl_certificate_key server.pem;
                ssl_protocols TLSv1.2 TLSv1.3;
                root files;
                location = /small { return 200 "hello"; }
                location /up/ { dav_methods PUT; create_full_put_path on; }
                location /limited/ { dav_methods PUT; client_max_body_size 1m; }
            }
        }
        """
    }
}
#endif
