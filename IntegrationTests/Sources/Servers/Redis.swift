// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if os(Linux)
public import Foundation
import Support

/// A Redis on free ports of 127.0.0.1, in memory only, with the password ``password``.
public final class Redis: Sendable {
    /// Whether it can be started here.
    public static let isInstalled = ServerFolder.isInstalled("redis-server")

    /// The password of the default user.
    public static let password = "opensesame-7Kd20"

    /// Where it listens.
    public let port: UInt16
    /// Where it listens for TLS.
    public let securePort: UInt16

    private let folder: ServerFolder

    /// Starts it; it listens when this returns.
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
        // The file with the number of the process is there before it listens.
        _ = try Shell.run("until redis-cli -p \(port) ping >/dev/null 2>&1; do sleep 0.02; done", in: folder.url)
    }

    /// The file with the certificate that signs its own.
    public var certificate: URL { folder.url.appending(path: "server.pem") }

    /// Stops the process for a while, as a machine does that has no time for it.
    public func suspend() throws { try folder.signal(SIGSTOP) }

    /// Lets the process go on.
    public func resume() throws { try folder.signal(SIGCONT) }

    /// Kills it and starts it again on the same ports; it has lost its data.
    public func restart() throws { try folder.restart("redis-server redis.conf") }

    /// Runs a command of redis-cli.
    @discardableResult
    public func run(_ command: String) throws -> String {
        try Shell.run("redis-cli --no-auth-warning -a \(Self.password) -p \(port) \(command)", in: folder.url)
    }
}
#endif
