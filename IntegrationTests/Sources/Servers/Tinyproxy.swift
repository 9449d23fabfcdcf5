// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if os(Linux)
public import Foundation
import Support

/// Runs tinyproxy for a test, on a free port.
///
/// It requires a user and a password. The server ends when the last reference to it is released.
public final class Tinyproxy: Sendable {
    /// Whether the program is installed.
    public static let isInstalled = ServerFolder.isInstalled("tinyproxy")

    /// The password of the user `ada`.
    public static let password = "opensesame-5Zq81"

    /// The port.
    public let port: UInt16

    private let folder: ServerFolder

    /// Starts the server, which listens when this returns.
    ///
    /// - Parameter allowedPort: The only port that `CONNECT` may name.
    public init(connectingTo allowedPort: UInt16) throws {
        folder = try ServerFolder(for: "tinyproxy")
        port = try folder.start("tinyproxy -d -c tinyproxy.conf", portCount: 1) { ports in
            """
            Listen 127.0.0.1
            Port \(ports[0])
            PidFile "tinyproxy.pid"
            LogFile "tinyproxy.log"
            Timeout 60
            BasicAuth ada \(Self.password)
            ConnectPort \(allowedPort)

            """
        }[0]
    }

    /// The proxy's URL, with the user and the password unless they are nil.
    ///
    /// Both must already be percent-encoded.
    public func url(user: String?, password: String?) throws -> URL {
        let credentials = user.map { user in user + (password.map { ":\($0)" } ?? "") + "@" } ?? ""
        guard let url = URL(string: "http://\(credentials)127.0.0.1:\(port)") else {
            throw ServerError(text: "not a user: \(credentials)")
        }
        return url
    }

    /// The number of logged requests that start with a text, such as `CONNECT`.
    public func requestCount(_ prefix: String) throws -> Int {
        let log = try String(contentsOf: folder.url.appending(path: "tinyproxy.log"), encoding: .utf8)
        return log.split(separator: "\n").count {
            $0.contains("Request (file descriptor") && $0.contains(": \(prefix)")
        }
    }
}
#endif
