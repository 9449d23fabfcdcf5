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
        /// The server refused this stream with REFUSED_STREAM.
        case refusedStream(UInt32)
        /// The server violated HTTP/2 with a frame of this stream, or has reset it because of a violation.
        case malformed(stream: UInt32)
        /// The server violated HTTP/2, so that libcurl ends the connection.
        case violation
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
        /// The server violated HTTP/2 on the connection, which libcurl has ended.
        case broken
        /// The server violated HTTP/2 on the stream of the request.
        case malformed
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

    /// Parses a line; `nil` for a line that is not relevant, and for every line of an unknown version.
    ///
    /// The first byte tells which texts to compare, because libcurl logs some ten other lines per request.
    static func line(_ text: UnsafeRawBufferPointer, _ texts: CurlLogTexts) -> Line? {
        guard texts.areKnown else { return nil }
        return switch text.first {
        case UInt8(ascii: "U"), UInt8(ascii: "["): streamLine(text)
        case UInt8(ascii: "r"): goAway(text)
        case UInt8(ascii: "H"): endOfStream(text)
        case UInt8(ascii: "n"):
            CurlLogTexts.refusedInput.contains { text.starts(with: $0.utf8) }
                ? .violation : number(after: CurlLogTexts.violation, in: text).flatMap { $0 == 0 ? nil : .violation }
        case UInt8(ascii: "F"): CurlLogTexts.unsentHeads.contains { text.starts(with: $0.utf8) } ? .unsent : nil
        case UInt8(ascii: "R"): text.starts(with: CurlLogTexts.refusal.utf8) ? .refused : nil
        case UInt8(ascii: "C"):
            connectionLines.first { text.starts(with: $0.0.utf8) }?.1
                ?? number(in: CurlLogTexts.kept, of: text).map { _ in .kept }
        case UInt8(ascii: "s"): number(in: CurlLogTexts.closedStream, of: text).map { _ in .closed }
        case UInt8(ascii: "D"): text.starts(with: CurlLogTexts.downgrade.utf8) ? .downgraded : nil
        case UInt8(ascii: "E"): text.starts(with: CurlLogTexts.emptyReply.utf8) ? .empty : nil
        default: nil
        }
    }

    private static func streamLine(_ text: UnsafeRawBufferPointer) -> Line? {
        for form in CurlLogTexts.streams {
            if let stream = number(in: form, of: text) { return .stream(stream) }
        }
        if let stream = number(in: CurlLogTexts.tracedRefusal, of: text) { return .refusedStream(stream) }
        if let error = number(after: CurlLogTexts.tracedViolation, in: text) { return error == 0 ? nil : .violation }
        return number(in: CurlLogTexts.invalidFrame, of: text).map { .malformed(stream: $0) }
    }

    private static func goAway(_ text: UnsafeRawBufferPointer) -> Line? {
        for prefix in CurlLogTexts.goAways {
            guard let error = number(after: prefix, in: text) else { continue }
            let rest = UnsafeRawBufferPointer(rebasing: text.dropFirst(prefix.utf8CodeUnitCount).drop(while: isDigit))
            guard let stream = number(after: ", last_stream=", in: rest) else { return nil }
            return .goAway(lastStream: stream, error: error)
        }
        return nil
    }

    private static func endOfStream(_ text: UnsafeRawBufferPointer) -> Line? {
        if let stream = number(in: CurlLogTexts.namedRefusal, of: text) { return .refusedStream(stream) }
        if let stream = number(in: CurlLogTexts.ownReset, of: text) { return .malformed(stream: stream) }
        for form in [CurlLogTexts.uncleanStream, CurlLogTexts.serverReset] {
            guard let stream = number(in: form, of: text) else { continue }
            let words = String(decoding: text, as: UTF8.self)
            let isViolation =
                words.contains(CurlLogTexts.protocolError) || words.contains(CurlLogTexts.violationCode)
            return isViolation ? .malformed(stream: stream) : nil
        }
        return nil
    }

    /// The error code HTTP_1_1_REQUIRED (RFC 9113, section 7).
    static let http1Required: UInt32 = 13

    private static let connectionLines: [(String, Line)] = [
        (CurlLogTexts.repetition, .died), (CurlLogTexts.fullCache, .full), (CurlLogTexts.closing, .closing),
    ]

    /// The number between two texts; `nil` if the line has another form.
    private static func number(
        in form: (start: StaticString, end: StaticString),
        of text: UnsafeRawBufferPointer
    ) -> UInt32? {
        guard starts(text[...], with: form.start) else { return nil }
        let rest = text.dropFirst(form.start.utf8CodeUnitCount)
        let digits = rest.prefix(while: isDigit)
        guard starts(rest.dropFirst(digits.count), with: form.end) else { return nil }
        return number(digits)
    }

    private static func number(after prefix: StaticString, in text: UnsafeRawBufferPointer) -> UInt32? {
        guard starts(text[...], with: prefix) else { return nil }
        return number(text.dropFirst(prefix.utf8CodeUnitCount).prefix(while: isDigit))
    }

    private static func number(_ digits: Slice<UnsafeRawBufferPointer>) -> UInt32? {
        guard 1...10 ~= digits.count else { return nil }
        return UInt32(String(decoding: digits, as: UTF8.self))
    }

    private static func starts(_ text: Slice<UnsafeRawBufferPointer>, with prefix: StaticString) -> Bool {
        text.starts(with: UnsafeBufferPointer(start: prefix.utf8Start, count: prefix.utf8CodeUnitCount))
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
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
