// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A port of 127.0.0.1 that refuses connections.
///
/// It is reserved while this object exists.
///
/// The port of a stopped server is not suitable for this, because another server may get it a moment later.
package final class RefusingPort: Sendable {
    package let number: Int
    private let socket: Socket

    package init() throws {
        socket = try Socket.bound()
        number = try socket.localPort()
    }
}
