// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector

/// A TCP socket on 127.0.0.1.
///
/// Its calls block, and `close()` wakes them from any thread.
///
/// This file contains nearly all code that depends on the platform. The descriptor is closed after the last call on it
/// has returned. If it were closed during a blocked call, another socket could get its number.
package final class Socket: Sendable {
    private struct State {
        var isClosed = false
        var sendCount = 0
    }

    private let descriptor: Int32
    private let state = Locked(State())
    private let calls = DispatchGroup()
    private let held = DispatchGroup()

    /// Takes ownership of a descriptor.
    ///
    /// Processes that the tests start do not inherit the descriptor.
    init(owning descriptor: Int32) {
        self.descriptor = descriptor
        held.enter()
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        #if canImport(Darwin)
        // This must be set at once. Otherwise a peer that closes immediately would end the process.
        set(SOL_SOCKET, SO_NOSIGPIPE, Int32(1))
        #endif
    }

    /// The name of this machine in a URL.
    static var loopbackHost: String {
        #if canImport(Darwin)
        "localhost"
        #else
        "127.0.0.1"
        #endif
    }

    deinit { close() }

    /// Connects to a port of 127.0.0.1.
    ///
    /// `receive` then fails with `EAGAIN` after 600 seconds, so that no test hangs.
    package static func connect(to port: Int) throws -> Socket {
        let socket = try Socket.make()
        try socket.use { descriptor in
            try check("connect", withAddress(port: port) { systemConnect(descriptor, $0, $1) })
        }
        socket.prepareForTraffic()
        socket.set(SOL_SOCKET, SO_RCVTIMEO, timeval(tv_sec: 600, tv_usec: 0))
        return socket
    }

    /// Waits for the first byte, and returns the bytes that are available; empty at the end of the stream.
    package func receive(upTo maximumByteCount: Int = 65_536) throws -> Data {
        let bytes = try use { descriptor in
            try [UInt8](unsafeUninitializedCapacity: maximumByteCount) { buffer, count in
                count = try retrying("recv") { recv(descriptor, buffer.baseAddress, buffer.count, 0) }
            }
        }
        guard !isClosed else { throw LoopbackError.connectionClosed }
        return Data(bytes)
    }

    /// Discards the bytes that have arrived, at most 4 MiB, without waiting for more.
    func discardReceived() throws {
        try use { descriptor in
            var buffer = [UInt8](repeating: 0, count: 65_536)
            for _ in 0..<64 {
                guard recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT)) > 0 else { return }
            }
        }
    }

    /// Sends all bytes, and waits for room as often as necessary.
    package func send(_ data: Data) throws {
        try use(sending: true) { descriptor in
            try data.withUnsafeBytes { bytes in
                var sent = 0
                while sent < bytes.count {
                    let rest = UnsafeRawBufferPointer(rebasing: bytes[sent...])
                    sent += try retrying("send") { systemSend(descriptor, rest.baseAddress, rest.count) }
                }
            }
        }
    }

    /// Ends this side's stream (FIN).
    ///
    /// The other side may continue to send.
    package func finishSending() throws {
        try use { descriptor in try check("shutdown", shutdown(descriptor, Int32(SHUT_WR))) }
    }

    /// Whether `close` or `reset` was called.
    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Wakes the calls on the socket, and closes the descriptor before the method returns.
    package func close() { release(aborting: false) }

    /// Closes the socket so that the peer sees a reset (RST) instead of the end of the stream.
    ///
    /// On Apple's systems, the peer may see the end of the stream first if another thread is inside `send`.
    package func reset() { release(aborting: true) }

    private func release(aborting: Bool) {
        let isSending: Bool? = state.withLock { state in
            guard !state.isClosed else { return nil }
            state.isClosed = true
            return state.sendCount > 0
        }
        guard let isSending else { return held.wait() }
        if aborting { set(SOL_SOCKET, SO_LINGER, linger(l_onoff: 1, l_linger: 0)) }
        if aborting, !isSending {
            // This wakes readers, and sends nothing.
            _ = shutdown(descriptor, Int32(SHUT_RD))
        } else if !aborting || !systemDisconnect(descriptor) {
            _ = shutdown(descriptor, Int32(SHUT_RDWR))
        }
        calls.wait()
        _ = systemClose(descriptor)
        held.leave()
    }

    /// Runs system calls on the descriptor, which stays valid meanwhile.
    func use<Value>(sending: Bool = false, _ body: (Int32) throws -> Value) throws -> Value {
        try state.withLock { state in
            guard !state.isClosed else { throw LoopbackError.connectionClosed }
            if sending { state.sendCount += 1 }
            calls.enter()
        }
        defer {
            if sending { state.withLock { $0.sendCount -= 1 } }
            calls.leave()
        }
        do {
            return try body(descriptor)
        } catch {
            throw isClosed ? LoopbackError.connectionClosed : error
        }
    }

    /// Makes a socket that is neither bound nor connected.
    static func make() throws -> Socket {
        let descriptor = systemSocket()
        guard descriptor >= 0 else { throw LoopbackError.system(call: "socket", code: errno) }
        return Socket(owning: descriptor)
    }

    /// Sets the options of a socket that carries bytes.
    func prepareForTraffic() {
        // Each send of a script must be transmitted immediately as its own segment.
        set(Int32(IPPROTO_TCP), TCP_NODELAY, Int32(1))
    }

    private func set<Value: BitwiseCopyable>(_ level: Int32, _ option: Int32, _ value: Value) {
        _ = withUnsafePointer(to: value) {
            setsockopt(descriptor, level, option, $0, socklen_t(MemoryLayout<Value>.size))
        }
    }
}

/// Throws the error of a system call that has returned a negative number.
func check(_ call: String, _ result: Int32) throws {
    guard result >= 0 else { throw LoopbackError.system(call: call, code: errno) }
}

private func retrying(_ call: String, _ body: () -> Int) throws -> Int {
    while true {
        let count = body()
        if count >= 0 { return count }
        let code = errno
        guard code == EINTR else { throw LoopbackError.system(call: call, code: code) }
    }
}

/// Calls a function of the sockets API with the address of a port of 127.0.0.1.
///
/// Port 0 means any free port.
func withAddress(port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
    var address = sockaddr_in()
    #if canImport(Darwin)
    address.sin_len = UInt8(MemoryLayout<sockaddr_in>.size)
    #endif
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(truncatingIfNeeded: port).bigEndian
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    return withUnsafePointer(to: address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
    }
}

// The methods of the same names hide the functions of the C library.

private func systemSocket() -> Int32 {
    #if canImport(Glibc)
    socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #else
    socket(AF_INET, SOCK_STREAM, 0)
    #endif
}

private func systemSend(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    #if canImport(Darwin)
    send(descriptor, bytes, count, 0)
    #else
    send(descriptor, bytes, count, Int32(MSG_NOSIGNAL))
    #endif
}

private func systemConnect(_ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> Int32 {
    connect(descriptor, address, length)
}

private func systemClose(_ descriptor: Int32) -> Int32 { close(descriptor) }

/// Ends a connection by a reset and wakes every call on it, if the system supports that.
private func systemDisconnect(_ descriptor: Int32) -> Bool {
    #if os(Linux)
    var nowhere = sockaddr()
    nowhere.sa_family = sa_family_t(AF_UNSPEC)
    return connect(descriptor, &nowhere, socklen_t(MemoryLayout<sockaddr>.size)) == 0
    #else
    return false
    #endif
}
