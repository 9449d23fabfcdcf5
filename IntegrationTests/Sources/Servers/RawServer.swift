// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if os(Linux)
public import Foundation
import Glibc
import Synchronization

/// A server on a free port of 127.0.0.1 that follows a script byte for byte.
///
/// The server ends when the last reference to it is released.
public final class RawServer: Sendable {
    /// The port.
    public let port: UInt16

    private let listener: Int32
    private let connections: RawConnections

    /// Starts the server.
    ///
    /// - Parameter serve: The script, which runs once per connection, each time on its own thread. The connection is
    ///   closed when the script returns.
    public init(_ serve: @escaping @Sendable (RawConnection) -> Void) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let connections = RawConnections()
        port = try bindToFreePort(listener)
        guard listen(listener, 64) == 0 else { throw ServerError(text: String(cString: strerror(errno))) }
        self.listener = listener
        self.connections = connections
        Thread {
            while case let descriptor = accept(listener, nil, nil), descriptor >= 0 {
                _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
                let number = connections.insert(descriptor)
                Thread {
                    serve(RawConnection(number: number, descriptor: descriptor))
                    connections.close(descriptor)
                }
                .start()
            }
            Glibc.close(listener)
        }
        .start()
    }

    deinit {
        // The accepting thread wakes up and closes its socket. The connections' threads do the same.
        shutdown(listener, Int32(SHUT_RDWR))
        connections.shutDown()
    }

    /// A URL over plain HTTP.
    public func url(_ path: String) throws -> URL {
        guard let url = URL(string: "http://127.0.0.1:\(port)\(path)") else {
            throw ServerError(text: "not a path: \(path)")
        }
        return url
    }
}

/// The open connections of a server.
///
/// A descriptor is closed under the lock. So the server never shuts down a descriptor whose number already belongs to
/// another file.
private final class RawConnections: Sendable {
    private let state = Mutex((open: Set<Int32>(), count: 0, isShutDown: false))

    func insert(_ descriptor: Int32) -> Int {
        state.withLock { state in
            state.open.insert(descriptor)
            state.count += 1
            if state.isShutDown { shutdown(descriptor, Int32(SHUT_RDWR)) }
            return state.count
        }
    }

    func close(_ descriptor: Int32) {
        state.withLock { state in
            state.open.remove(descriptor)
            _ = Glibc.close(descriptor)
        }
    }

    func shutDown() {
        state.withLock { state in
            state.isShutDown = true
            for descriptor in state.open { shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
    }
}

/// One connection of a ``RawServer``, for its script.
public struct RawConnection {
    /// The connection's number, counted from 1.
    public let number: Int
    fileprivate let descriptor: Int32

    /// More bytes than a client may read from an unusable response, but not too many for the machine.
    public static let longestRepetition = 64 << 20

    /// Reads a request without a body.
    ///
    /// - Returns: The head; nil if the client closed the connection.
    public func readHead() -> String? { read(through: "\r\n\r\n") }

    /// Reads bytes up to a text.
    ///
    /// - Returns: The bytes including the text; nil if the client closed the connection.
    public func read(through text: String) -> String? {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while !bytes.suffix(text.utf8.count).elementsEqual(text.utf8) {
            guard recv(descriptor, &byte, 1, 0) == 1 else { return nil }
            bytes.append(byte)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Sends a text.
    ///
    /// - Returns: Whether the text was sent; false if the client closed the connection.
    @discardableResult
    public func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    /// Sends bytes.
    ///
    /// - Returns: Whether the bytes were sent; false if the client closed the connection.
    public func send(_ bytes: [UInt8]) -> Bool {
        var bytes = bytes[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            bytes = bytes.dropFirst(count)
        }
        return true
    }

    /// Sends a text repeatedly until the client closes the connection or ``longestRepetition`` is reached.
    ///
    /// - Returns: The number of sent bytes.
    @discardableResult
    public func repeatUntilClosed(_ text: String) -> Int {
        let byteCount = text.utf8.count
        var sum = 0
        while sum < Self.longestRepetition, send(text) { sum += byteCount }
        return sum
    }

    /// Waits until the client closes the connection.
    public func waitForClose() {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while recv(descriptor, &buffer, buffer.count, 0) > 0 {}
    }
}
#endif
