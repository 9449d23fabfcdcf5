// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting

extension LoopbackServer {
    /// A server that reads a request, plays a fixture, and ends its side of the connection.
    ///
    /// - Parameter playing: Opened when the first bytes are sent.
    static func hostile(_ fixture: HostileFixture, playing: Gate) throws -> LoopbackServer {
        try LoopbackServer { connection in
            try connection.skipRequest(fixture.version)
            defer { playing.open() }
            try connection.send(fixture.start)
            playing.open()
            var count = 0
            while !fixture.repeated.isEmpty, count < fixture.maximumByteCount {
                try connection.send(fixture.repeated)
                count += fixture.repeated.count
            }
            try connection.send(fixture.end)
            // The end of an HTTP/2 connection would hide why its stream ended.
            if fixture.version == .http1 { try connection.finishSending() }
            try connection.waitUntilPeerCloses()
        }
    }

    /// A server that answers each connection's first request with `ok`.
    static func healthy(_ version: HostileFixture.Version) throws -> LoopbackServer {
        switch version {
        case .http1: try responding { _ in .text("ok") }
        case .http2:
            try LoopbackServer { connection in
                try connection.skipRequest(.http2)
                try connection.send(HTTP2Frame.preface + HTTP2Frame.bytes(of: [.head(), .data("ok")]))
                try connection.waitUntilPeerCloses()
            }
        }
    }
}

extension LoopbackConnection {
    /// Reads a request; one of HTTP/2 is sent at once, and is only waited for.
    fileprivate func skipRequest(_ version: HostileFixture.Version) throws {
        switch version {
        case .http1: _ = try readRequest()
        // The client's preface has a line `PRI * HTTP/2.0`, and the bytes after `SM` and two line breaks are frames.
        case .http2: for _ in 0..<4 { _ = try readLine() }
        }
    }
}
