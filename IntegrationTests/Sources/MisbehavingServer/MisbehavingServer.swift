// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if os(Linux)
public import Foundation
import Glibc

/// A server for many thousand requests per second.
///
/// It has one thread, uses `poll`, and has a behavior for each path.
///
/// Unchecked, because only the server's thread uses the state that changes after `init`.
public final class MisbehavingServer: @unchecked Sendable {
    /// The delay of ``Behavior/late`` in milliseconds.
    private static let lateness = 3

    private let listener: Int32
    private let port: UInt16
    private var connections: [Int32: Connection] = [:]
    /// The responses to send later, sorted by time.
    private var late: [(due: Int, descriptor: Int32, number: Int)] = []
    private var firstLate = 0
    private var connectionCount = 0
    private var buffer = [UInt8](repeating: 0, count: 64 * 1024)

    /// Starts a server on a free port of 127.0.0.1.
    ///
    /// The server runs until the process ends.
    public init() throws {
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = listener
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                bind(descriptor, generic, length) == 0 && listen(descriptor, 1024) == 0
                    && getsockname(descriptor, generic, &length) == 0
            }
        }
        guard isListening else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        port = UInt16(bigEndian: address.sin_port)
        let thread = Thread { [self] in run() }
        thread.name = "MisbehavingServer"
        thread.start()
    }

    /// The URL of a behavior.
    public func url(_ behavior: Behavior) -> URL {
        // A raw value is a plain word, so no input can make this fail.
        guard let url = URL(string: "http://127.0.0.1:\(port)/\(behavior.rawValue)") else {
            preconditionFailure("a port and a word make a URL")
        }
        return url
    }

    private func run() {
        var watched: [pollfd] = []
        while true {
            watched.removeAll(keepingCapacity: true)
            watched.append(pollfd(fd: listener, events: Int16(POLLIN), revents: 0))
            for (descriptor, connection) in connections {
                let events = connection.isBlocked ? POLLOUT : POLLIN
                watched.append(pollfd(fd: descriptor, events: Int16(events), revents: 0))
            }
            poll(&watched, nfds_t(watched.count), firstLate < late.count ? 1 : -1)
            for entry in watched where entry.revents != 0 {
                if entry.fd == listener {
                    accept()
                } else if entry.revents & Int16(POLLOUT) != 0 {
                    send(entry.fd)
                } else {
                    receive(entry.fd)
                }
            }
            answerLate()
        }
    }

    private func accept() {
        while true {
            let descriptor = Glibc.accept(listener, nil, nil)
            guard descriptor >= 0 else { return }
            _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
            var isOn: Int32 = 1
            setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<Int32>.size))
            connectionCount += 1
            connections[descriptor] = Connection(number: connectionCount)
        }
    }

    private func receive(_ descriptor: Int32) {
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count > 0 else {
            if count == 0 || errno != EAGAIN { close(descriptor, resets: false) }
            return
        }
        connections[descriptor]?.input.append(contentsOf: buffer[..<count])
        while let (behavior, byteCount) = connections[descriptor]?.nextRequest() {
            if behavior == .late, let number = connections[descriptor]?.number {
                late.append((milliseconds + Self.lateness, descriptor, number))
            } else {
                answer(behavior, byteCount, to: descriptor)
            }
        }
    }

    private func answer(_ behavior: Behavior, _ byteCount: Int, to descriptor: Int32) {
        let (bytes, end) = behavior.answer(toBodyOf: byteCount)
        connections[descriptor]?.output = bytes[...]
        connections[descriptor]?.end = end
        send(descriptor)
    }

    private func send(_ descriptor: Int32) {
        guard var connection = connections[descriptor] else { return }
        while !connection.output.isEmpty {
            let count = connection.output.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else {
                if errno != EAGAIN { return close(descriptor, resets: false) }
                connection.isBlocked = true
                connections[descriptor] = connection
                return
            }
            connection.output = connection.output.dropFirst(count)
        }
        connection.isBlocked = false
        connection.output = []
        connections[descriptor] = connection
        if connection.end != .keepsOpen { close(descriptor, resets: connection.end == .resets) }
    }

    private func answerLate() {
        let now = milliseconds
        while firstLate < late.count, late[firstLate].due <= now {
            let (_, descriptor, number) = late[firstLate]
            firstLate += 1
            // A later connection may have the same descriptor, but it has another number.
            if connections[descriptor]?.number == number { answer(.late, 0, to: descriptor) }
        }
        if firstLate > 1_024 {
            late.removeFirst(firstLate)
            firstLate = 0
        }
    }

    private func close(_ descriptor: Int32, resets: Bool) {
        if resets {
            var lingers = linger(l_onoff: 1, l_linger: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &lingers, socklen_t(MemoryLayout<linger>.size))
        }
        connections[descriptor] = nil
        Glibc.close(descriptor)
    }

    private var milliseconds: Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
    }
}

/// A connection, with the bytes that were received but not parsed, and the bytes still to send.
private struct Connection {
    let number: Int
    var input: [UInt8] = []
    var output: ArraySlice<UInt8> = []
    var end = Behavior.End.keepsOpen
    var isBlocked = false

    /// The next request; nil until it has arrived with its whole body.
    mutating func nextRequest() -> (Behavior, bodyByteCount: Int)? {
        guard let head = endOfHead() else { return nil }
        let text = String(decoding: input[..<head], as: UTF8.self)
        let lines = text.split(separator: "\r\n")
        let words = lines[0].split(separator: " ")
        guard words.count == 3, let behavior = Behavior(rawValue: String(words[1].dropFirst())) else { return nil }
        let length = lines.first { $0.lowercased().hasPrefix("content-length:") }
        let byteCount = length.flatMap { Int($0.dropFirst(15).trimmingCharacters(in: .whitespaces)) } ?? 0
        guard input.count >= head + byteCount else { return nil }
        input.removeFirst(head + byteCount)
        if behavior == .guarded, !lines.contains("Authorization: Bearer \(Behavior.freshToken)") {
            return (.refused, byteCount)
        }
        return (behavior, byteCount)
    }

    private func endOfHead() -> Int? {
        guard input.count >= 4 else { return nil }
        return (4...input.count).first {
            input[$0 - 1] == 10 && input[$0 - 2] == 13 && input[$0 - 3] == 10 && input[$0 - 4] == 13
        }
    }
}
#endif
