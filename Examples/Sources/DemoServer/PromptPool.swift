// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import FlyingSocks
import Foundation

/// A pool whose sockets send each part of a response at once.
///
/// FlyingFox writes head and body separately. Without this pool, the kernel delays the second write by 40 ms, until the
/// client's kernel acknowledges the first one (RFC 896 and RFC 1122, section 4.2.3.2).
struct PromptPool<Wrapped: AsyncSocketPool>: AsyncSocketPool {
    let wrapped: Wrapped

    func prepare() async throws {
        try await wrapped.prepare()
    }

    func run() async throws {
        try await wrapped.run()
    }

    func suspendSocket(_ socket: Socket, untilReadyFor events: Socket.Events) async throws {
        // The listening socket waits here before it accepts a connection, and accepted sockets inherit the option.
        try? socket.setValue(true, for: BoolSocketOption(level: Int32(IPPROTO_TCP), name: TCP_NODELAY))
        try await wrapped.suspendSocket(socket, untilReadyFor: events)
    }
}
