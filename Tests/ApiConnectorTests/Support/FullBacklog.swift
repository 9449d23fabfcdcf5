// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if os(Linux)
import ApiConnector
import Testing

/// A port whose queue is full and never accepted, so that a connection neither succeeds nor fails.
final class FullBacklog {
    let url: URL
    private var descriptors: [Int32] = []

    init() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        descriptors = [listener]
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let url = try withUnsafeMutablePointer(to: &address) { pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                bind(listener, generic, length)
                listen(listener, 0)
                getsockname(listener, generic, &length)
                let port = UInt16(bigEndian: pointer.pointee.sin_port)
                return try #require(URL(string: "http://127.0.0.1:\(port)/"))
            }
        }
        self.url = url
        for _ in 0..<4 {
            let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
            descriptors.append(client)
            withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { _ = connect(client, $0, length) }
            }
        }
    }

    deinit {
        for descriptor in descriptors { close(descriptor) }
    }
}
#endif
