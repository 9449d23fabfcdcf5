// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if os(Linux)
import Foundation
import Servers
import Support

/// An nginx with TLS and HTTP/2 on a free port.
///
/// It ends when this process ends.
final class ExitServer: Sendable {
    let url: URL
    /// A bundle of certificates that contains the server's certificate and the system's bundle.
    ///
    /// Reading and releasing it therefore takes as long as with the system's bundle.
    let authority: URL

    init() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "exiting-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        authority = folder.appending(path: "bundle.pem")
        try Shell.run(
            """
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=nginx \
            -addext subjectAltName=IP:127.0.0.1 -keyout server.key -out server.pem
            cp server.pem bundle.pem
            for file in /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt; do
                if [ -r $file ]; then cat $file >>bundle.pem; break; fi
            done
            """,
            in: folder
        )
        url = try Self.start(in: folder)
    }

    /// Starts the server.
    ///
    /// Tries another port if a port is already in use.
    private static func start(in folder: URL) throws -> URL {
        var attempt = 1
        while true {
            let port = try freePorts(1)[0]
            do {
                try start(in: folder, port)
                guard let url = URL(string: "https://127.0.0.1:\(port)/") else { throw POSIXError(.EINVAL) }
                return url
            } catch {
                guard attempt < 5 else { throw error }
                attempt += 1
            }
        }
    }

    private static func start(in folder: URL, _ port: UInt16) throws {
        let configuration = """
            master_process off;
            pid nginx.pid;
            events { worker_connections 1024; }
            http {
                access_log off;
                client_body_temp_path body;
                proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
                server {
                    listen 127.0.0.1:\(port) ssl http2;
                    ssl_certificate server.pem;
                    ssl_certificate_key server.key;
                    location = / { return 200 "hello"; }
                }
            }
            """
        try Data(configuration.utf8).write(to: folder.appending(path: "nginx.conf"))
        let isNeeded = "grep -qs '^State:.[^ZX]' /proc/\(getpid())/status && kill -0 $(cat nginx.pid)"
        let watch = "while \(isNeeded); do sleep 1; done; kill $(cat nginx.pid)"
        try Shell.run(
            """
            PATH=$PATH:/usr/sbin nginx -p "$PWD" -c nginx.conf -e error.log || exit 1
            until [ -s nginx.pid ]; do sleep 0.05; done
            { \(watch); cd /; rm -rf '\(folder.path)'; } >/dev/null 2>&1 &
            """,
            in: folder
        )
    }
}
#endif
