// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Glibc

/// A server on a free port of 127.0.0.1 that follows a script byte for byte, with one thread per connection.
final class RawServer: Sendable {
    let port: Int
    private let listener: CInt

    init(_ serve: @escaping @Sendable (RawConnection) -> Void) throws {
        listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutableBytes(of: &address) { [listener] bytes in
            let address = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress
            return bind(listener, address, length) == 0 && listen(listener, 128) == 0
                && getsockname(listener, address, &length) == 0
        }
        guard isListening else {
            close(listener)
            throw Program.Failure(command: "listen", status: errno, output: "no port is free")
        }
        port = Int(UInt16(bigEndian: address.sin_port))
        Thread.detachNewThread { [listener] in
            while case let accepted = accept(listener, nil, nil), accepted >= 0 {
                _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
                Thread.detachNewThread {
                    serve(RawConnection(descriptor: accepted))
                    close(accepted)
                }
            }
            close(listener)
        }
    }

    /// The URL of a path.
    func url(_ path: String = "/") -> URL {
        URL(string: "http://127.0.0.1:\(port)\(path)") ?? URL(filePath: path)
    }

    /// Stops accepting connections.
    ///
    /// Open connections end when their scripts end.
    func stop() {
        shutdown(listener, CInt(SHUT_RDWR))
    }
}

/// The server's side of a connection.
///
/// Its calls block.
struct RawConnection {
    fileprivate let descriptor: CInt

    /// Sends all bytes.
    ///
    /// Returns false if the client closed the connection.
    func send(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                Glibc.send(
                    descriptor,
                    buffer.baseAddress.map { $0 + sent },
                    buffer.count - sent,
                    CInt(MSG_NOSIGNAL)
                )
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    func send(_ text: String) -> Bool {
        send(Array(text.utf8))
    }

    /// Makes each send a separate packet.
    func sendAtOnce() {
        var on: CInt = 1
        setsockopt(descriptor, CInt(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<CInt>.size))
    }

    /// Waits for the first byte, and returns the bytes that are available; empty if the client closed the connection.
    func receive(upTo byteCount: Int = 65_536) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, count in
            count = max(0, recv(descriptor, buffer.baseAddress, buffer.count, 0))
        }
    }

    /// Receives `byteCount` bytes and discards them in the kernel.
    ///
    /// - Returns: The number of received bytes.
    func discard(_ byteCount: Int) -> Int {
        var received = 0
        while received < byteCount {
            // With MSG_TRUNC, the kernel's TCP copies nothing.
            let count = recv(descriptor, nil, min(byteCount - received, 1 << 20), CInt(MSG_TRUNC))
            guard count > 0 else { break }
            received += count
        }
        return received
    }

    /// Reads the head of a request, and returns it with the bytes after it; nil if the client closed the connection.
    func readHead() -> (head: String, rest: [UInt8])? {
        var input: [UInt8] = []
        while true {
            let chunk = receive()
            guard !chunk.isEmpty else { return nil }
            input += chunk
            if let end = input.firstRange(of: Array("\r\n\r\n".utf8)) {
                return (String(decoding: input[..<end.upperBound], as: UTF8.self), Array(input[end.upperBound...]))
            }
        }
    }
}
