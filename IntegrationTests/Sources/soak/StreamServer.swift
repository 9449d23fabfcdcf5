// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if os(Linux)
import Foundation
import Glibc
import Servers
import Synchronization

/// A server of streams that records when it writes and when a client leaves.
///
/// It has one thread per connection.
final class StreamServer: Sendable {
    /// The stream of a path.
    enum Feed: String {
        /// Events some milliseconds apart. Each event contains the time of its write to the socket.
        case events
        /// One event, then silence until the client leaves.
        case held
        /// ``recordCount`` records of ``recordByteCount`` bytes, as fast as the client reads.
        case records
    }

    static let eventCount = 500
    static let eventGap = Duration.milliseconds(4)
    static let recordByteCount = 1024
    static let recordCount = 256 * 1024

    private let listener: Int32
    private let port: UInt16
    private let closings = Mutex<(times: [Duration], waiters: [CheckedContinuation<Duration, Never>])>(([], []))

    /// Starts a server on a free port of 127.0.0.1.
    ///
    /// The server runs until the process ends.
    init() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        port = try bindToFreePort(descriptor)
        guard listen(descriptor, 64) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        listener = descriptor
        Thread { [self] in
            while true {
                let connection = accept(descriptor, nil, nil)
                guard connection >= 0 else { continue }
                var isOn: Int32 = 1
                setsockopt(connection, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<Int32>.size))
                Thread { [self] in serve(connection) }.start()
            }
        }
        .start()
    }

    func url(_ feed: Feed) -> URL {
        // A raw value is a plain word, so no input can make this fail.
        guard let url = URL(string: "http://127.0.0.1:\(port)/\(feed.rawValue)") else {
            preconditionFailure("a port and a word make a URL")
        }
        return url
    }

    /// The time when the next client of ``Feed/held`` leaves, on the clock of ``now``.
    func nextClosing() async -> Duration {
        await withCheckedContinuation { waiter in
            let time = closings.withLock { closings -> Duration? in
                if !closings.times.isEmpty { return closings.times.removeFirst() }
                closings.waiters.append(waiter)
                return nil
            }
            if let time { waiter.resume(returning: time) }
        }
    }

    /// The monotonic clock of this process.
    static var now: Duration {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    private func serve(_ connection: Int32) {
        defer { close(connection) }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = recv(connection, &buffer, buffer.count, 0)
        guard count > 0 else { return }
        let target = String(decoding: buffer[..<count], as: UTF8.self).split(separator: " ").dropFirst().first ?? "/"
        switch Feed(rawValue: String(target.dropFirst())) {
        case .events:
            send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n", to: connection)
            for _ in 0..<Self.eventCount {
                usleep(UInt32(Self.eventGap / .microseconds(1)))
                send("data: \(Int64(Self.now / .nanoseconds(1)))\n\n", to: connection)
            }
        case .held:
            send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n", to: connection)
            while recv(connection, &buffer, buffer.count, 0) > 0 {}
            noteClosing()
        case .records:
            send("HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nConnection: close\r\n\r\n", to: connection)
            let record = "\"" + String(repeating: "x", count: Self.recordByteCount - 3) + "\"\n"
            let batch = String(repeating: record, count: 64)
            for _ in 0..<Self.recordCount / 64 { send(batch, to: connection) }
        case nil: break
        }
    }

    private func noteClosing() {
        let now = Self.now
        let waiter = closings.withLock { closings -> CheckedContinuation<Duration, Never>? in
            if !closings.waiters.isEmpty { return closings.waiters.removeFirst() }
            closings.times.append(now)
            return nil
        }
        waiter?.resume(returning: now)
    }

    private func send(_ text: String, to connection: Int32) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return }
            bytes = bytes.dropFirst(count)
        }
    }
}
#endif
