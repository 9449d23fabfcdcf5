// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)

/// The sockets of libcurl's connections, by their local port; used in a turn of the loop only.
///
/// libcurl does not tell which socket a request is about to use (`CURLINFO_ACTIVESOCKET` is known after the transfer),
/// but it does tell the local port. An entry stays when its connection closes, so each use checks the port.
final class CurlSockets {
    private struct Entry {
        let descriptor: Int32
        /// Whether the connection speaks HTTP/1.x, so that nothing may arrive between two requests.
        var isSequential: Bool
    }

    private var entries: [UInt16: Entry] = [:]

    /// Records the socket that a connection was made with, one of those that were opened for it.
    func add(_ opened: [Int32], port: UInt16, isSequential: Bool) {
        guard let descriptor = opened.last(where: { Self.localPort(of: $0) == port }) else { return }
        entries[port] = Entry(descriptor: descriptor, isSequential: isSequential)
    }

    /// Records that the connection of this port speaks HTTP/1.x.
    func markSequential(port: UInt16) {
        entries[port]?.isSequential = true
    }

    /// Whether bytes, or the end of the stream, arrived on an HTTP/1.x connection while it was idle.
    ///
    /// Over TLS as well: nginx and HAProxy send session tickets before the first response, which libcurl has then read.
    /// What arrives later is a response without a request, or the end.
    func hasUnsolicitedInput(port: UInt16) -> Bool {
        guard let entry = entries[port], entry.isSequential else { return false }
        guard Self.localPort(of: entry.descriptor) == port else {
            entries[port] = nil
            return false
        }
        var byte: UInt8 = 0
        let count = recv(entry.descriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT))
        return count >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
    }

    private static func localPort(of descriptor: Int32) -> UInt16? {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &address) { storage in
            storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address -> UInt16? in
                guard getsockname(descriptor, address, &length) == 0 else { return nil }
                switch Int32(address.pointee.sa_family) {
                case AF_INET:
                    return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                        $0.pointee.sin_port.bigEndian
                    }
                case AF_INET6:
                    return UnsafeRawPointer(address).loadUnaligned(fromByteOffset: 2, as: UInt16.self).bigEndian
                default: return nil
                }
            }
        }
    }
}

#endif
