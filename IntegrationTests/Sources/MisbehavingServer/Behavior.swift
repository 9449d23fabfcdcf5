// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The server's behavior for a path.
public enum Behavior: String, CaseIterable, Sendable {
    /// A short body.
    case short
    /// A body of 256 KiB.
    case large
    /// The length of the request's body.
    case measure
    /// A short body that is sent some milliseconds late.
    case late
    /// A short body for a request with ``freshToken``, and otherwise ``refused``.
    case guarded
    /// The status 401.
    case refused

    /// A reset of the connection instead of a response.
    case reset
    /// A reset of the connection within the body.
    case resetInside
    /// Closes the connection before the end of the body.
    case truncated
    /// Closes the connection before the last chunk.
    case truncatedChunks
    /// A chunk whose length is not a number.
    case badChunk
    /// Bytes that are not HTTP.
    case garbage
    /// No response.
    case silence
    /// A head and the start of a body, then silence.
    case silenceInside

    /// The behaviors of a faulty server.
    public static let misbehaviors: [Behavior] = [
        .reset, .resetInside, .truncated, .truncatedChunks, .badChunk, .garbage, .silence, .silenceInside,
    ]

    /// The body of ``short``.
    public static let shortBody = #"{"id":1,"title":"Hello, world","likes":1234567}"#

    /// The bearer token that ``guarded`` accepts.
    public static let freshToken = "fresh"

    /// The size of ``large`` in bytes.
    public static let largeByteCount = 256 * 1024

    enum End {
        case keepsOpen, closes, resets
    }

    /// The bytes to send, and what happens to the connection afterward.
    func answer(toBodyOf byteCount: Int) -> (bytes: [UInt8], end: End) {
        switch self {
        case .short, .late, .guarded: (Self.response(Self.shortBody), .keepsOpen)
        case .refused: (Array("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n".utf8), .keepsOpen)
        case .large: (Self.largeAnswer, .keepsOpen)
        case .measure: (Self.response("\(byteCount)"), .keepsOpen)
        case .reset: ([], .resets)
        case .resetInside: (Self.beginning, .resets)
        case .truncated: (Self.beginning, .closes)
        case .truncatedChunks: (Self.chunked("5\r\nhello\r\n"), .closes)
        case .badChunk: (Self.chunked("5\r\nhello\r\nzz\r\nhello\r\n"), .closes)
        case .garbage: (Array("\u{16}\u{3}\u{1} this is not HTTP\r\n\r\n".utf8), .closes)
        case .silence: ([], .keepsOpen)
        case .silenceInside: (Self.beginning, .keepsOpen)
        }
    }

    private static func response(_ body: String) -> [UInt8] {
        Array(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
                .utf8
        )
    }

    private static func chunked(_ chunks: String) -> [UInt8] {
        Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(chunks)".utf8)
    }

    private static let largeAnswer =
        Array("HTTP/1.1 200 OK\r\nContent-Length: \(largeByteCount)\r\n\r\n".utf8)
        + [UInt8](repeating: 0x61, count: largeByteCount)
    private static let beginning = Array("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nonly this".utf8)
}
