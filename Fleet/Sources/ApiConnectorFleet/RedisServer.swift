// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import Foundation
import NIOSSL

/// The address of a Redis server, and how to sign in.
public struct RedisServer: Sendable {
    /// The host's name or address.
    public let host: String
    /// The port.
    public let port: Int
    let user: String?
    let password: String?
    let database: Int
    let tls: NIOSSLContext?

    /// The host name that the certificate must have; nil if the host is an IP address, which is not checked as a name.
    var serverName: String? {
        let isAddress = host.contains(":") || host.allSatisfy { $0.isNumber || $0 == "." }
        return isAddress ? nil : host
    }

    /// Reads the address of a server.
    ///
    /// ```swift
    /// let server = try RedisServer(url: "rediss://user:password@redis.example.com:6380/2")
    /// ```
    ///
    /// - Parameters:
    ///   - url: A URL with the scheme `redis` or, for TLS, `rediss`. User, password, port (default 6379) and database
    ///     (default 0) can be left out. Percent-encode reserved characters in the password.
    ///   - trustRoots: A PEM file with the certificate authorities that can sign the server's certificate; the system's
    ///     authorities by default.
    /// - Throws: ``RedisServerError``, whose text says what is wrong with the URL or the file. It does not contain the
    ///   password.
    public init(url: String, trustRoots: URL? = nil) throws(RedisServerError) {
        guard let parts = URLComponents(string: url), let scheme = parts.scheme?.lowercased(),
            scheme == "redis" || scheme == "rediss", let host = parts.host, !host.isEmpty
        else { throw RedisServerError("the address of Redis is not of the form redis://user:password@host:port/0") }
        self.host = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        port = parts.port ?? 6379
        user = parts.user.flatMap { $0.isEmpty ? nil : $0 }
        password = parts.password
        let path = parts.path.dropFirst()
        guard let database = path.isEmpty ? 0 : Int(path), database >= 0 else {
            throw RedisServerError("the path of the address of Redis is not the number of a database")
        }
        self.database = database
        guard scheme == "rediss" else {
            tls = nil
            return
        }
        var configuration = TLSConfiguration.makeClientConfiguration()
        do {
            if let trustRoots { configuration.trustRoots = .file(trustRoots.path(percentEncoded: false)) }
            tls = try NIOSSLContext(configuration: configuration)
        } catch {
            throw RedisServerError("TLS for Redis cannot be set up: \(error)")
        }
    }
}

/// An error in the address of a ``RedisServer``.
public struct RedisServerError: Error, CustomStringConvertible {
    /// The problem, for a developer.
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}
