// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if os(Linux)
public import Foundation
import Support

/// Runs Redis on free ports of 127.0.0.1, with a fixed password.
///
/// The password is ``password``. The data is only in memory.
public final class Redis: Sendable {
    /// Whether the program is installed.
    public static let isInstalled = ServerFolder.isInstalled("redis-server")

    /// The password of the default user.
    public static let password = "opensesame-7Kd20"

    /// The port.
    public let port: UInt16
    /// The port for TLS.
    public let securePort: UInt16

    private let folder: ServerFolder

    /// Starts the server, which listens when this returns.
    public init() throws {
        folder = try ServerFolder(for: "redis")
        try folder.makeCertificate()
        let ports = try folder.start("redis-server redis.conf", portCount: 2) { ports in
            """
            bind 127.0.0.1
            port \(ports[0])
            tls-port \(ports[1])
            tls-cert-file server.pem
            tls-key-file server.key
            tls-ca-cert-file server.pem
            tls-auth-clients no
            requirepass \(Self.password)
            pidfile redis.pid
            daemonize no
            save ""
            appendonly no

            """
        }
        (port, securePort) = (ports[0], ports[1])
        // The server writes its process id before it listens.
        _ = try Shell.run("until redis-cli -p \(port) ping >/dev/null 2>&1; do sleep 0.02; done", in: folder.url)
    }

    /// The file of the certificate that signs the server's certificate.
    public var certificate: URL { folder.url.appending(path: "server.pem") }

    /// Suspends the process, to simulate an overloaded machine.
    public func suspend() throws { try folder.signal(SIGSTOP) }

    /// Resumes the process.
    public func resume() throws { try folder.signal(SIGCONT) }

    /// Kills the server, and starts it again on the same ports.
    ///
    /// The data is lost.
    public func restart() throws { try folder.restart("redis-server redis.conf") }

    /// Runs a command of redis-cli.
    @discardableResult
    public func run(_ command: String) throws -> String {
        try Shell.run("redis-cli --no-auth-warning -a \(Self.password) -p \(port) \(command)", in: folder.url)
    }
}
#endif
