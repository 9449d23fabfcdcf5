// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import CCurl
#endif

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

    /// The known facts about a request when a line arrives.
    struct Facts {
        /// The number of the current call of libcurl.
        var call = 0
        /// libcurl's error text so far.
        var words = ""
        /// Whether the request has a connection.
        var hasConnection = true
        /// The last stream that the server processes; nil before its GOAWAY.
        var lastStream: UInt32?
        /// Whether the server violated HTTP/2 on the connection.
        var isBroken = false
        /// Whether another transfer has given up the connection.
        var isClosing = false
        /// Whether the server has closed or reset the connection; nil if that is not known.
        var hasEnded: Bool?
        /// Whether it is certain that the server has not sent `close_notify`; evaluated only if it decides.
        var isTLSOpen: () -> Bool = { false }
        /// Whether libcurl was allowed to send the request.
        var isSent = true
        /// Whether libcurl has sent the whole body of the request.
        var isBodySent = false

        /// Whether libcurl ended the connection without a response because the server violated HTTP/2.
        ///
        /// Unless libcurl reports an error itself, it gives up an HTTP/2 connection in three cases: the server sent
        /// GOAWAY, the connection ended, or libcurl sent GOAWAY. It only sends GOAWAY after a violation. The line
        /// ``Line/kept`` follows if libcurl has not given up the connection.
        fileprivate var showViolationByEnd: Bool {
            words == CurlLogTexts.emptyReply && hasConnection && lastStream == nil && hasEnded == false
        }

        /// Whether libcurl closes the connection of a response because the server violated HTTP/2.
        ///
        /// After a violation, libcurl sends GOAWAY, and the next read is the end of the body for it. Otherwise it closes
        /// a connection after a response in three cases: the server sent GOAWAY, another transfer has given up the
        /// connection, or the server has ended TLS. A request whose body may not have been sent is not judged.
        fileprivate var showViolationByClosing: Bool {
            isSent && hasConnection && isBodySent && lastStream == nil && !isClosing && isTLSOpen()
        }
    }

    /// The result of a line for the connection or the server.
    enum Effect: Equatable {
        case none
        /// The server processes no streams after this one.
        case goAway(lastStream: UInt32, requiresHTTP1: Bool)
        /// The connection is closed after its last response.
        case closes
        /// The connection is closed, and is no longer that of the request.
        case dies
        /// The server violated HTTP/2 on the connection.
        case breaks
        /// The server requires HTTP/1.1.
        case requiresHTTP1
    }

    /// Whether libcurl reports the stream of the request.
    private(set) var isOn = false
    /// The stream of the request; `nil` over HTTP/1, and before the request is sent.
    private(set) var stream: UInt32?
    /// Whether no part of the request was sent.
    private(set) var isUnsent = false
    /// Whether libcurl sends the request again over HTTP/1.1, because the server requires it.
    private(set) var isDowngraded = false
    /// Whether the server closed the stream before the request's body was sent.
    private(set) var isClosed = false
    private(set) var outcome: Outcome?
    /// Whether there are too many idle connections, so that one of them is closed.
    private var isFull = false
    private var progress = CurlProgressCount()

    /// Records that the log is on.
    mutating func turnOn() {
        isOn = true
    }

    /// Forgets the last send.
    mutating func restart() {
        let isOn = isOn
        self = CurlStreamLog()
        self.isOn = isOn
    }

    /// Records that libcurl sends the request.
    ///
    /// - Parameter call: The number of the current call of libcurl.
    mutating func beginSend(in call: Int) {
        restart()
        progress.send(in: call)
    }

    /// Records that libcurl has reported progress.
    mutating func reportProgress(in call: Int) {
        progress.report(in: call)
    }

    /// Whether it is certain that the server has not processed the request.
    ///
    /// A GOAWAY names the last stream that the server processes (RFC 9113, section 6.8). Any transfer on the connection
    /// may have read it.
    func isUnprocessed(lastStream: UInt32?) -> Bool {
        outcome == .unprocessed || isAfter(lastStream)
    }

    private func isAfter(_ lastStream: UInt32?) -> Bool {
        guard let stream, let lastStream else { return false }
        return stream > lastStream
    }

    /// Records a line of the log.
    mutating func record(_ line: Line, _ texts: CurlLogTexts, _ facts: @autoclosure () -> Facts) -> Effect {
        switch line {
        case .stream(let stream): self.stream = stream
        case .goAway(let lastStream, let error):
            return .goAway(lastStream: lastStream, requiresHTTP1: error == Self.http1Required)
        case .unsent: isUnsent = true
        case .refused:
            outcome = .unprocessed
            return .closes
        case .refusedStream(let stream): if stream == self.stream { outcome = .unprocessed }
        case .malformed(let stream): if stream == self.stream { outcome = .malformed }
        case .violation: return .breaks
        case .died:
            if outcome == nil, stream != nil { judgeRepetition(texts, facts()) }
            return .dies
        case .downgraded:
            isDowngraded = true
            return .requiresHTTP1
        case .closed: isClosed = true
        case .full: isFull = true
        case .closing: if !isFull, mayJudgeEnd(texts), facts().showViolationByClosing { outcome = .broken }
        // After a violation, libcurl does not keep the connection. So the server has reset the stream without an error.
        case .kept: if outcome == .broken { outcome = nil }
        case .empty: if !isDowngraded, mayJudgeEnd(texts), facts().showViolationByEnd { outcome = .broken }
        }
        return .none
    }

    /// Whether libcurl may have ended the connection because the server violated HTTP/2.
    private func mayJudgeEnd(_ texts: CurlLogTexts) -> Bool {
        texts.showsViolationsByClosing && outcome == nil && stream != nil
    }

    /// Determines why libcurl sends the request again.
    private mutating func judgeRepetition(_ texts: CurlLogTexts, _ facts: Facts) {
        if facts.isBroken {
            outcome = .broken
        } else if isAfter(facts.lastStream) || (facts.words.isEmpty && isRefusedWithoutText(texts, facts)) {
            outcome = .unprocessed
        }
    }

    /// Whether a read that failed without an error text means that the server refused the stream.
    private func isRefusedWithoutText(_ texts: CurlLogTexts, _ facts: Facts) -> Bool {
        switch texts.refusal {
        case .failedRead: progress.isNone(in: facts.call)
        // Sending also fails without a text, if the server has closed the stream.
        case .failedReadOfOpenConnection: !isClosed && facts.hasEnded == false && facts.isTLSOpen()
        case .named: false
        }
    }

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

#if Curl && os(Linux)
// MARK: Calls of libcurl

extension CurlHandle {
    /// Sets the callback for libcurl's log; only requests that may use HTTP/2 enable the log.
    func setLogCallback(_ context: UnsafeMutableRawPointer) {
        guard CurlRuntime.readsLog else { return }
        easy.set(CCURLOPT_DEBUGDATA, context)
        ccurl_easy_set_debug_callback(easy.pointer, CCURLOPT_DEBUGFUNCTION) { _, type, text, count, context in
            guard type == CCURL_LOG_TEXT else { return 0 }
            CurlHandle.from(context).read(logLine: UnsafeRawBufferPointer(start: text, count: count))
            return 0
        }
    }

    private func read(logLine text: UnsafeRawBufferPointer) {
        let texts = CurlRuntime.texts
        guard let line = CurlStreamLog.line(text, texts) else { return }
        // If this handle has no connection, libcurl is reading from a connection that no transfer uses.
        let connection = connecting.connection
        switch log.record(line, texts, logFacts) {
        case .none: break
        case .goAway(let lastStream, let requiresHTTP1):
            if let connection { sockets.recordGoAway(lastStream, on: connection) }
            if requiresHTTP1 { recordHTTP1() }
        case .closes: if let connection { sockets.markClosing(connection) }
        case .dies:
            if let connection { sockets.markClosing(connection) }
            connecting.leave()
        case .breaks:
            // The transfer that reads for all of the connection gets the line.
            guard let connection else { return }
            sockets.markBroken(connection)
            if texts.needsTrace { sockets.endReading(connection) }
        case .requiresHTTP1: recordHTTP1()
        }
    }

    private var logFacts: CurlStreamLog.Facts {
        var facts = CurlStreamLog.Facts()
        facts.call = turns.callNumber
        facts.words = errorWords
        facts.isSent = sending.step == .send
        facts.isBodySent = isBodySent
        facts.isTLSOpen = { [easy, transfer] in
            transfer.map { !$0.requestHead.isSecure || CurlOpenSSL.isNotified(easy) == false } ?? false
        }
        facts.hasConnection = connecting.connection != nil
        guard let connection = connecting.connection else { return facts }
        facts.lastStream = sockets.lastStream(of: connection)
        facts.isBroken = sockets.isBroken(connection)
        facts.isClosing = sockets.isClosing(connection)
        facts.hasEnded = sockets.hasEnded(connection)
        return facts
    }

    private func recordHTTP1() {
        if let transfer { sockets.require(.http1, for: transfer.request.url) }
    }

    /// Whether it is certain that the server has not processed the last request sent.
    var isUnprocessed: Bool {
        log.isUnprocessed(lastStream: connecting.connection.flatMap(sockets.lastStream))
    }

    /// Whether the server violated HTTP/2 on the stream or on the connection of a request that failed.
    var hasBrokenRules: Bool {
        log.outcome == .broken || log.outcome == .malformed || connecting.connection.map(sockets.isBroken) == true
    }
}

#endif
