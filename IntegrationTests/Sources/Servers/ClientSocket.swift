// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if os(Linux)
import Foundation
import Glibc

/// The sockets of this process as a client.
public enum ClientSocket {
    /// Waits until bytes arrive on the connection to a port of 127.0.0.1, or until the connection ends.
    ///
    /// The caller ensures that there is exactly one connection and that no code reads from it.
    ///
    /// - Returns: Whether bytes arrived or the connection ended within a minute.
    public static func waitForInput(fromPort port: UInt16) throws -> Bool {
        let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { Int32($0) }
        let found = descriptors.filter { peerPort($0) == port }
        guard found.count == 1 else { throw ServerError(text: "\(found.count) connections to port \(port)") }
        var watched = pollfd(fd: found[0], events: Int16(POLLIN), revents: 0)
        var count: Int32
        repeat { count = poll(&watched, 1, 60_000) } while count < 0 && errno == EINTR
        return count == 1
    }

    private static func peerPort(_ descriptor: Int32) -> UInt16? {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isConnected = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &length) == 0 }
        }
        return isConnected && address.sin_family == sa_family_t(AF_INET) ? UInt16(bigEndian: address.sin_port) : nil
    }
}
#endif
