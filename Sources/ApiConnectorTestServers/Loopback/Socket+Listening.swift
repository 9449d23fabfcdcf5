// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

extension Socket {
    /// Binds a free port of 127.0.0.1 and listens on it.
    ///
    /// `accept` on the socket does not block.
    static func listen() throws -> Socket {
        let socket = try Socket.bound()
        try socket.use { descriptor in
            try check("listen", systemListen(descriptor, SOMAXCONN))
            try check("fcntl", fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK))
        }
        return socket
    }

    /// Binds a free port of 127.0.0.1, which refuses connections.
    static func bound() throws -> Socket {
        let socket = try Socket.make()
        try socket.use { descriptor in
            try check("bind", withAddress(port: 0) { bind(descriptor, $0, $1) })
        }
        return socket
    }

    /// The port to which this side is bound.
    func localPort() throws -> Int {
        try use { descriptor in
            var address = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let result = withUnsafeMutablePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
            }
            try check("getsockname", result)
            return Int(UInt16(bigEndian: address.sin_port))
        }
    }

    /// Accepts a pending connection; nil if there is none.
    func accept() throws -> Socket? {
        try use { descriptor in
            let accepted = systemAccept(descriptor)
            guard accepted >= 0 else {
                if [EAGAIN, EWOULDBLOCK, EINTR, ECONNABORTED].contains(errno) { return nil }
                throw LoopbackError.system(call: "accept", code: errno)
            }
            let socket = Socket(owning: accepted)
            // On BSD, an accepted socket inherits the listener's O_NONBLOCK.
            _ = fcntl(accepted, F_SETFL, fcntl(accepted, F_GETFL) & ~O_NONBLOCK)
            socket.prepareForTraffic()
            return socket
        }
    }
}

// The methods of the same names hide the functions of the C library.

private func systemListen(_ descriptor: Int32, _ backlog: Int32) -> Int32 { listen(descriptor, backlog) }

private func systemAccept(_ descriptor: Int32) -> Int32 { accept(descriptor, nil, nil) }
