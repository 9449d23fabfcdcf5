// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A port of 127.0.0.1 that refuses connections, and that nobody else gets while somebody holds this.
///
/// That of a server which was stopped may be another server's a moment later.
package final class RefusingPort: Sendable {
    package let number: Int
    private let socket: Socket

    package init() throws {
        socket = try Socket.bound()
        number = try socket.localPort()
    }
}
