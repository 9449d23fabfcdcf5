// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Interprets libcurl's log about one send over HTTP/2; does not call libcurl itself.
///
/// libcurl reports a refused stream and a closed connection with the same codes. Its log distinguishes them.
struct CurlStreamLog {
    /// A relevant line of the log.
    enum Line: Equatable {
        /// The request is sent on this stream.
        case stream(UInt32)
        /// The server sent GOAWAY. It does not process streams after this one.
        case goAway(lastStream: UInt32, error: UInt32)
        /// Writing the request's head failed, so that no part of it was sent.
        case unsent
        /// The stream was reset with REFUSED_STREAM. libcurl sends the request again.
        case refused
        /// The send failed, for example because the connection was lost. libcurl sends the request again.
        ///
        /// On a reused connection, the reason may also be REFUSED_STREAM: libcurl then logs this line, and not the line
        /// of ``refused``.
        case died
        /// The connection is no longer usable, and no response arrived.
        case empty
        /// The server requires HTTP/1.1 for the request. libcurl sends it again over HTTP/1.1.
        case downgraded
        /// The stream was closed without an error while the body of the request was being sent.
        case closed
        /// An idle connection is closed next, because there are too many.
        case full
        /// A connection is closed: that of the request, except after ``full``.
        case closing
        /// The connection of the request stays open for other requests.
        case kept
    }

    /// How the send ended.
    enum Outcome {
        /// The server has not processed the request (RFC 9113, section 8.7).
        case unprocessed
        /// The server violated HTTP/2, so libcurl ended the connection.
        case broken
    }

    /// The stream of the request; `nil` over HTTP/1, and before the request is sent.
    var stream: UInt32?
    /// Whether no part of the request was sent.
    var isUnsent = false
    /// Whether libcurl sends the request again over HTTP/1.1, because the server requires it.
    var isDowngraded = false
    /// Whether the server closed the stream before the request's body was sent.
    var isClosed = false
    /// Whether there are too many idle connections, so that one of them is closed.
    var isFull = false
    var outcome: Outcome?

    /// Parses a line; `nil` for a line that is not relevant.
    static func line(_ text: UnsafeRawBufferPointer) -> Line? {
        switch text.first {
        case UInt8(ascii: "U"): number(after: "Using Stream ID: ", in: text).map { .stream($0) }
        // The spelling is libcurl's.
        case UInt8(ascii: "r"):
            goAway(text)
        case UInt8(ascii: "F"): heads.contains { text.starts(with: $0.utf8) } ? .unsent : nil
        case UInt8(ascii: "R"): text.starts(with: "REFUSED_STREAM, retrying".utf8) ? .refused : nil
        case UInt8(ascii: "C"):
            connectionLines.first { text.starts(with: $0.0.utf8) }?.1
                ?? number(after: "Connection #", in: text).flatMap {
                    text.starts(with: "Connection #\($0) to host ".utf8) ? .kept : nil
                }
        case UInt8(ascii: "s"):
            number(after: "stream ", in: text).flatMap { text.starts(with: "stream \($0) closed".utf8) ? .closed : nil }
        case UInt8(ascii: "D"): text.starts(with: "Downgrades to HTTP/1.1".utf8) ? .downgraded : nil
        case UInt8(ascii: "E"): text.starts(with: emptyReply.utf8) ? .empty : nil
        default: nil
        }
    }

    /// libcurl's text for a connection that ended without a response.
    static let emptyReply = "Empty reply from server"

    private static func goAway(_ text: UnsafeRawBufferPointer) -> Line? {
        let prefix: StaticString = "recveived GOAWAY, error="
        guard let error = number(after: prefix, in: text),
            let stream = number(after: prefix, upTo: "last_stream=", in: text)
        else { return nil }
        return .goAway(lastStream: stream, error: error)
    }

    /// The error code HTTP_1_1_REQUIRED (RFC 9113, section 7).
    static let http1Required: UInt32 = 13

    private static let connectionLines: [(String, Line)] = [
        ("Connection died, retrying", .died), ("Connection cache is full", .full), ("Closing connection ", .closing),
    ]

    private static let heads = ["Failed sending HTTP ", "Failed sending POST ", "Failed sending PUT "]

    private static func number(
        after prefix: StaticString,
        upTo name: String = "",
        in text: UnsafeRawBufferPointer
    ) -> UInt32? {
        let prefix = UnsafeBufferPointer(start: prefix.utf8Start, count: prefix.utf8CodeUnitCount)
        guard text.starts(with: prefix) else { return nil }
        var rest = text.dropFirst(prefix.count)
        if !name.isEmpty {
            guard let comma = rest.firstIndex(of: UInt8(ascii: ",")) else { return nil }
            rest = rest[comma...].dropFirst(2)
            guard rest.starts(with: name.utf8) else { return nil }
            rest = rest.dropFirst(name.utf8.count)
        }
        let digits = rest.prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
        guard 1...10 ~= digits.count else { return nil }
        return UInt32(String(decoding: digits, as: UTF8.self))
    }
}

/// Counts libcurl's progress reports for a transfer; does not call libcurl itself.
///
/// libcurl reports progress after each successful read. If it sends a request again without a report, the read has
/// failed.
struct CurlProgressCount {
    /// The number of progress reports between the send callback and the first read.
    private static let countBeforeReading = 2

    private var call = -1
    private var count = 0

    /// Records that libcurl sends the request.
    ///
    /// - Parameter call: The number of the current call of libcurl.
    mutating func send(in call: Int) {
        (self.call, count) = (call, -Self.countBeforeReading)
    }

    mutating func report(in call: Int) {
        if call != self.call { (self.call, count) = (call, 0) }
        count += 1
    }

    /// Whether no read of this call succeeded; false if this is not certain.
    func isNone(in call: Int) -> Bool {
        call != self.call || count <= 0
    }
}
