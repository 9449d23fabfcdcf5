// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if os(Linux)
import Foundation
import Support
import Testing

extension Data {
    /// Bytes whose order shows; those of another seed are others.
    static func pattern(_ byteCount: Int, seed: Int = 1) -> Data {
        let block = Data((0..<4099).map { UInt8(truncatingIfNeeded: $0 &* (2 * seed + 1)) })
        var data = Data(capacity: byteCount + block.count)
        while data.count < byteCount { data.append(block) }
        return data.prefix(byteCount)
    }
}

/// An nginx of a test's own, on free ports, with a certificate made for it; it ends with the last reference.
final class Nginx: Sendable {
    /// Where its files are; `PUT` writes there too.
    let files: URL
    /// Whom its certificate is signed by.
    let authority: URL

    private let folder: URL
    private let ports: Ports

    private struct Ports {
        let plain: UInt16
        let secure: UInt16
        /// HTTP/2 without TLS, and nothing else.
        let priorKnowledge: UInt16
    }

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "nginx-\(UUID().uuidString)")
        files = folder.appending(path: "files")
        authority = folder.appending(path: "server.pem")
        try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
        try Shell.run(
            "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=nginx "
                + "-addext subjectAltName=IP:127.0.0.1 -keyout server.key -out server.pem",
            in: folder
        )
        var ports = try Self.freePorts()
        // Somebody else may have taken a port since it was found free.
        for attempt in 1... {
            do {
                try Self.start(in: folder, ports)
                break
            } catch {
                guard attempt < 5 else { throw error }
                ports = try Self.freePorts()
            }
        }
        self.ports = ports
    }

    deinit {
        // It removes the file when it ends; nothing is to vanish while the folder is being removed.
        _ = try? Shell.run("kill $(cat nginx.pid); until [ ! -e nginx.pid ]; do sleep 0.02; done", in: folder)
        try? FileManager.default.removeItem(at: folder)
    }

    /// A URL over plain HTTP.
    func plain(_ path: String) throws -> URL {
        try #require(URL(string: "http://127.0.0.1:\(ports.plain)\(path)"))
    }

    /// A URL over TLS, where nginx speaks HTTP/2 too.
    func secure(_ path: String) throws -> URL {
        try #require(URL(string: "https://127.0.0.1:\(ports.secure)\(path)"))
    }

    /// A URL where nginx speaks HTTP/2 at once, without TLS.
    func priorKnowledge(_ path: String) throws -> URL {
        try #require(URL(string: "http://127.0.0.1:\(ports.priorKnowledge)\(path)"))
    }

    /// Starts it in the background, listening when the command has ended.
    ///
    /// It ends a second after this process at the latest.
    private static func start(in folder: URL, _ ports: Ports) throws {
        try Data(configuration(ports).utf8).write(to: folder.appending(path: "nginx.conf"))
        let watch = "while kill -0 \(getpid()) && kill -0 $(cat nginx.pid); do sleep 1; done; kill $(cat nginx.pid)"
        try Shell.run(
            """
            PATH=$PATH:/usr/sbin nginx -p "$PWD" -c nginx.conf -e error.log || exit 1
            until [ -s nginx.pid ]; do sleep 0.05; done
            { \(watch); } >/dev/null 2>&1 &
            """,
            in: folder
        )
    }

    private static func configuration(_ ports: Ports) -> String {
        """
        master_process off;
        pid nginx.pid;
        events { worker_connections 1024; }
        http {
            access_log off;
            client_body_temp_path body;
            client_max_body_size 0;
            proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
            keepalive_requests 100000;
            gzip on;
            gzip_types text/plain;
            default_type application/octet-stream;
            types { text/plain txt; }
            add_header X-Protocol $server_protocol always;
            add_header X-Connection $connection always;
            add_header X-Expect $http_expect always;
            server {
                listen 127.0.0.1:\(ports.plain);
                listen 127.0.0.1:\(ports.secure) ssl http2;
                listen 127.0.0.1:\(ports.priorKnowledge) http2;
                ssl_certificate server.pem;
                ssl_certificate_key server.key;
                root files;
                location = /small { return 200 "hello"; }
                location /up/ { dav_methods PUT; create_full_put_path on; }
                location /limited/ { dav_methods PUT; client_max_body_size 1m; }
            }
        }
        """
    }

    /// Three ports that nobody had a moment ago.
    private static func freePorts() throws -> Ports {
        let sockets = (0..<3).map { _ in socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0) }
        defer { for descriptor in sockets { close(descriptor) } }
        let ports = try sockets.map { descriptor in
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            try withUnsafeMutablePointer(to: &address) { pointer in
                try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                    try #require(bind(descriptor, generic, length) == 0)
                    try #require(getsockname(descriptor, generic, &length) == 0)
                }
            }
            return UInt16(bigEndian: address.sin_port)
        }
        return Ports(plain: ports[0], secure: ports[1], priorKnowledge: ports[2])
    }
}
#endif
