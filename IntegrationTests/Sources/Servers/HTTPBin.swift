// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if os(Linux)
import Foundation
import Support

/// Runs httpbin for a test, on a free port.
///
/// The server ends when the last reference to it is released.
public final class HTTPBin: Sendable {
    /// Whether httpbin is installed.
    ///
    /// `Scripts/setup httpbin` installs it from PyPI.
    public static let isInstalled = FileManager.default.isExecutableFile(atPath: python.path)

    /// The port.
    public let port: UInt16

    private let folder: ServerFolder

    /// The Python interpreter of the environment that `Scripts/setup httpbin` makes.
    private static let python = URL(filePath: #filePath)
        .appending(path: "../../../../.build/httpbin/bin/python").standardizedFileURL

    /// Starts the server, which listens when this returns.
    public init() throws {
        folder = try ServerFolder(for: "httpbin")
        port = try folder.start("'\(Self.python.path)' httpbin.conf", portCount: 1) { ports in
            """
            import os
            from httpbin import app
            from werkzeug.serving import WSGIRequestHandler, make_server

            WSGIRequestHandler.protocol_version = "HTTP/1.1"
            server = make_server("127.0.0.1", \(ports[0]), app, threaded=True)
            with open("httpbin.new", "w") as file:
                file.write(str(os.getpid()))
            os.rename("httpbin.new", "httpbin.pid")
            server.serve_forever()

            """
        }[0]
    }
}
#endif
