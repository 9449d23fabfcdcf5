// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if os(Linux)
import Glibc

/// Returns ports of 127.0.0.1 that were free a moment ago.
public func freePorts(_ count: Int) throws -> [UInt16] {
    let sockets = (0..<count).map { _ in socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0) }
    // Each port is kept until all ports are found, so that all of them differ.
    defer { for descriptor in sockets { close(descriptor) } }
    return try sockets.map { try bindToFreePort($0) }
}

/// Binds a socket to a free port of 127.0.0.1 and returns the port.
public func bindToFreePort(_ descriptor: Int32) throws -> UInt16 {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
            bind(descriptor, generic, length) == 0 && getsockname(descriptor, generic, &length) == 0
        }
    }
    guard isBound else { throw ServerError(text: "no free port: \(String(cString: strerror(errno)))") }
    return UInt16(bigEndian: address.sin_port)
}
#endif
