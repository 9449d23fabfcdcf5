// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// A server that discards the request body, and answers with the body's size.
///
/// It discards bytes in the kernel without a copy, so that the speed of an upload depends on the client. For
/// ``checkedPath``, it reads every byte and compares it with the counter.
final class SinkServer: Sendable {
    struct Answer: Codable, Sendable {
        var byteCount = 0
        var wrongByteCount = 0
    }

    static let checkedPath = "/checked"

    private let server: RawServer

    init() throws {
        server = try RawServer { connection in
            while let (head, rest) = connection.readHead() {
                guard let answer = Self.readBody(connection, head, rest) else { return }
                let body = #"{"byteCount":\#(answer.byteCount),"wrongByteCount":\#(answer.wrongByteCount)}"#
                let fields = "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)"
                guard connection.send("HTTP/1.1 200 OK\r\n\(fields)\r\n\r\n\(body)") else { return }
            }
        }
    }

    func url(_ path: String) -> URL { server.url(path) }

    func stop() { server.stop() }

    private static func readBody(_ connection: RawConnection, _ head: String, _ rest: [UInt8]) -> Answer? {
        guard let length = head.firstMatch(of: #/(?i)\r\ncontent-length: *([0-9]+)/#).flatMap({ Int($0.1) }) else {
            _ = connection.send("HTTP/1.1 411 Length Required\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            return nil
        }
        if head.contains(#/(?i)\r\nexpect: *100-continue/#), !connection.send("HTTP/1.1 100 Continue\r\n\r\n") {
            return nil
        }
        guard head.contains(" \(checkedPath) ") else {
            return Answer(byteCount: rest.count + connection.discard(length - rest.count))
        }
        var checker = CounterChecker()
        checker.check(Data(rest))
        while checker.byteCount < length {
            let chunk = connection.receive(upTo: min(1 << 18, length - checker.byteCount))
            guard !chunk.isEmpty else { break }
            checker.check(Data(chunk))
        }
        return Answer(byteCount: checker.byteCount, wrongByteCount: checker.wrongByteCount)
    }
}
