// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if os(Linux)
import ApiConnector
import Servers
import Testing

/// A raw server's invalid response, and the expected failure of the call.
struct HostileResponse: Sendable {
    let name: String
    let start: String
    /// The part to repeat until the client closes the connection; empty for no repetition.
    let repeated: String
    let kind: ApiConnectorError.Kind

    private init(_ name: String, _ start: String, repeated: String = "", _ kind: ApiConnectorError.Kind) {
        (self.name, self.start, self.repeated, self.kind) = (name, start, repeated, kind)
    }

    static let all: [HostileResponse] = [
        HostileResponse("a body shorter than its length", head("Content-Length: 6") + "hello", .connectionLost),
        HostileResponse("chunks without the last one", chunked + "5\r\nhello\r\n", .connectionLost),
        HostileResponse("a head without an end", "HTTP/1.1 200 OK\r\nContent-Le", .connectionLost),
        HostileResponse("a chunk size of zz", chunked + "5\r\nhello\r\nzz\r\n", .malformedResponse),
        HostileResponse("a chunk size of 0x5", chunked + "0x5\r\nhello\r\n0\r\n\r\n", .malformedResponse),
        HostileResponse("two lengths", head("Content-Length: 10\r\nContent-Length: 5") + hello, .malformedResponse),
        HostileResponse("a list of two lengths", head("Content-Length: 5, 10") + hello, .malformedResponse),
        HostileResponse("a hexadecimal length", head("Content-Length: 0x5") + hello, .malformedResponse),
        HostileResponse("a length with a plus", head("Content-Length: +5") + hello, .malformedResponse),
        HostileResponse("a length of 2^63", head("Content-Length: 9223372036854775808") + hello, .malformedResponse),
        HostileResponse("a blank before a colon", head("Transfer-Encoding : chunked") + chunks, .malformedResponse),
        HostileResponse("a coding with a fold", head("Transfer-Encoding: chunked\r\n x") + chunks, .malformedResponse),
        HostileResponse("bytes that are not HTTP", "\u{16}\u{3}\u{1} this is not HTTP\r\n\r\n", .malformedResponse),
        HostileResponse("endless fields", "HTTP/1.1 200 OK\r\n", repeated: fields, .malformedResponse),
        HostileResponse("endless trailers", chunked + "5\r\nhello\r\n0\r\n", repeated: fields, .malformedResponse),
        HostileResponse("endless interim heads", "", repeated: interimHeads, .malformedResponse),
    ]

    /// Sends the response after a request.
    ///
    /// - Returns: The number of bytes of the repeated part that were sent.
    func play(to connection: RawConnection) -> Int {
        guard connection.readHead() != nil else { return 0 }
        connection.send(start)
        return repeated.isEmpty ? 0 : connection.repeatUntilClosed(repeated)
    }

    private static let hello = "helloworld"
    private static let chunks = "5\r\nhello\r\n0\r\n\r\n"
    private static let chunked = head("Transfer-Encoding: chunked")
    private static let fields = String(repeating: "X-Filler: \(String(repeating: "y", count: 100))\r\n", count: 100)
    private static let interimHeads = String(repeating: "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n", count: 100)

    private static func head(_ lines: String) -> String { "HTTP/1.1 200 OK\r\n\(lines)\r\n\r\n" }
}

extension HostileResponse: CustomTestStringConvertible {
    var testDescription: String { name }
}
#endif
