// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Reads the head of a response, which libcurl delivers line by line.
///
/// Heads of status 1xx and trailers are checked and skipped. libcurl keeps all of these lines until the handle is freed,
/// so all lines of a response count against one limit.
struct CurlHeadReader {
    enum Step: Equatable {
        case proceed
        /// The head is complete. After a 417, libcurl may send the request again, and another head follows.
        case complete(isProvisional: Bool)
        case refused(String)
    }

    /// The maximum size of all heads and trailers of a response: 256 KiB.
    static let maximumByteCount = 256 * 1024

    /// The maximum number of fields in all heads and trailers of a response: 5,000, as in libcurl from 8.14 on.
    static let maximumFieldCount = 5000

    /// Why a response with more fields is refused.
    static let tooManyFields =
        "the heads and trailers of the response have more than \(maximumFieldCount) fields, which is also libcurl's limit"

    /// The maximum number of heads of status 1xx: 100.
    ///
    /// A server that sends a 102 every 20 seconds (RFC 2518) reaches this limit after half an hour. Reading 256 KiB of
    /// short heads took 10 ms in one turn of the loop.
    static let maximumInterimCount = 100

    /// The status and the fields of the last head that is not interim.
    private(set) var head = TransferState.Head()

    /// Whether a complete head may still be replaced by another one.
    private(set) var isProvisional = false

    /// Whether the final head is complete.
    private(set) var isComplete = false

    /// Whether the next line is the first line of a head.
    var isAtStart: Bool { !isInside && !isComplete }

    /// Whether the status line names a version of HTTP/1.
    private(set) var isOverHTTP1 = false

    private var status = 0
    private var isInside = false
    /// The last field, whose value a folded line may continue.
    private var lastField: (name: HTTPHeaders.Name, value: String)?
    private var interimCount = 0
    /// The bytes of all lines, of all heads and trailers.
    private var byteCount = 0
    /// The number of lines of all heads and trailers that may be fields.
    private var fieldCount = 0
    private var framing = CurlFraming()

    /// Whether the request may have been sent with `Expect: 100-continue`.
    var mayExpectContinue = false

    /// Whether the head names a content coding.
    private(set) var isCoded = false

    /// Whether two fields define the end of the body, so that the connection must not be reused.
    var hasDoubtfulEnd: Bool { framing.isAmbiguous }

    /// Whether the body of a response without a length ends with the connection (RFC 9112, section 6.3).
    var endsWithConnection: Bool { isOverHTTP1 && status != 204 && status != 304 && !framing.isChunked }

    /// Whether the connection uses HTTP/1.1.
    ///
    /// Status lines with any other version are then refused: a server may falsely respond with `HTTP/2`. libcurl would
    /// believe it, and would send several requests at once on the HTTP/1.1 connection.
    var isHTTP1 = false

    /// Prepares for the next response.
    mutating func reset(mayExpectContinue: Bool, isHTTP1: Bool = false) {
        self = CurlHeadReader()
        self.mayExpectContinue = mayExpectContinue
        self.isHTTP1 = isHTTP1
    }

    /// Makes the complete head final; trailers may follow.
    mutating func keepFinal() {
        isComplete = true
    }

    /// Returns the head and removes it.
    mutating func take() -> TransferState.Head {
        defer { (head, isProvisional) = (TransferState.Head(), false) }
        return head
    }

    /// Appends one line with its line break.
    mutating func append(_ line: UnsafeRawBufferPointer) -> Step {
        byteCount += line.count
        guard byteCount <= Self.maximumByteCount else {
            let part = isComplete ? "the head of the response and its trailers are" : "the head of the response is"
            return .refused("\(part) longer than \(Self.maximumByteCount) bytes")
        }
        let text = CurlFraming.withoutLineEnd(line)
        if isComplete || isInside, !text.isEmpty {
            fieldCount += 1
            guard fieldCount <= Self.maximumFieldCount else { return .refused(Self.tooManyFields) }
        }
        guard !isComplete else { return CurlFraming.flaw(inTrailer: text).map { .refused($0) } ?? .proceed }
        guard isInside else { return begin(line, text) }
        if text.isEmpty { return complete() }
        if let flaw = framing.take(text) { return .refused(flaw) }
        // An interim head is not delivered.
        if status >= 200 { appendField(text) }
        return .proceed
    }

    /// Reads the status line.
    private mutating func begin(_ line: UnsafeRawBufferPointer, _ text: Slice<UnsafeRawBufferPointer>) -> Step {
        isOverHTTP1 = line.starts(with: "HTTP/1".utf8)
        // libcurl reads "http/1.1 500 No" as a 200.
        guard let status = Self.status(of: line), !isHTTP1 || line.starts(with: "HTTP/1.".utf8) else {
            let beginning = CurlFraming.beginning(of: line)
            let version = isHTTP1 && Self.status(of: line) != nil ? " of HTTP/1.1" : ""
            return .refused("the response starts with \(beginning), and not with a status line\(version)")
        }
        guard !CurlFraming.hasControlCharacter(text) else {
            return .refused("the status line of the response holds a control character")
        }
        self.status = status
        isInside = true
        isProvisional = false
        isCoded = false
        framing = CurlFraming()
        head = TransferState.Head(status: HTTPStatus(rawValue: status))
        return .proceed
    }

    /// Adds a valid field line to the head.
    private mutating func appendField(_ line: Slice<UnsafeRawBufferPointer>) {
        var text = line
        while let last = text.last, CurlFraming.isBlank(last) { text.removeLast() }
        guard let first = text.first else { return }
        if CurlFraming.isBlank(first) {
            // RFC 9112, section 5.2: a folded line continues the value before it.
            let rest = text.drop(while: CurlFraming.isBlank)
            if let name = lastField?.name { lastField?.value += " " + Self.value(rest, of: name) }
            return
        }
        guard let colon = text.firstIndex(of: UInt8(ascii: ":")) else { return }
        finishField()
        let name = HTTPHeaders.Name(String(decoding: text[..<colon], as: UTF8.self))
        lastField = (name, Self.value(text[(colon + 1)...].drop(while: CurlFraming.isBlank), of: name))
    }

    private mutating func finishField() {
        guard let field = lastField.take() else { return }
        head.headers.append(field.name, field.value)
    }

    private mutating func complete() -> Step {
        isInside = false
        finishField()
        // A response without a body names the length that its body would have.
        if framing.ignoresLength, status >= 200, status != 204, status != 304 {
            return .refused(CurlFraming.ignoredLength)
        }
        switch status {
        case 101: return .refused("the server switched to a protocol that was not requested")
        case 100..<200:
            interimCount += 1
            return interimCount <= Self.maximumInterimCount
                ? .proceed : .refused("the server sent more than \(Self.maximumInterimCount) interim responses")
        default:
            isProvisional = status == 417 && mayExpectContinue
            isComplete = !isProvisional
            head.coding = ContentCoding(head.headers)
            head.endsWithConnection = endsWithConnection
            isCoded = head.coding != nil
            return .complete(isProvisional: isProvisional)
        }
    }

    /// The number in `HTTP/1.1 200 OK`, `HTTP/2 200 ` or `HTTP/1.1 200`; nil for any other line.
    ///
    /// Some versions of libcurl also accept two spaces before the status, no space after it, or a status below 100. RFC
    /// 9112, section 4, and RFC 9110, section 15, have none of these.
    private static func status(of line: some Collection<UInt8>) -> Int? {
        guard line.starts(with: "HTTP/".utf8) else { return nil }
        let rest = line.drop { $0 != UInt8(ascii: " ") }.dropFirst()
        let digits = rest.prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
        let hasEnd = rest.dropFirst(3).first.map { $0 <= UInt8(ascii: " ") } ?? true
        guard digits.count == 3, digits.first != UInt8(ascii: "0"), hasEnd else { return nil }
        return digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }

    /// The value of a field.
    private static func value(_ bytes: Slice<UnsafeRawBufferPointer>, of name: HTTPHeaders.Name) -> String {
        String(validating: UnsafeRawBufferPointer(rebasing: bytes), as: UTF8.self) ?? latin1(bytes, of: name)
    }

    /// A value that is not UTF-8, whose bytes are read as ISO 8859-1 characters (RFC 9110, section 5.5).
    ///
    /// In a URL, the bytes are percent-encoded, because otherwise the URL would contain their UTF-8 form, which the
    /// server did not send. Control characters are replaced.
    private static func latin1(_ bytes: Slice<UnsafeRawBufferPointer>, of name: HTTPHeaders.Name) -> String {
        var isURL = name == .location || name == "Content-Location"
        var isQuoted = false
        var text = ""
        for byte in bytes {
            if name == .link {
                if !isURL, byte == UInt8(ascii: "\"") { isQuoted.toggle() }
                if !isQuoted, byte == UInt8(ascii: "<") || byte == UInt8(ascii: ">") {
                    isURL = byte == UInt8(ascii: "<")
                }
            }
            if isURL, byte >= 0x80 {
                text += "%" + String(byte, radix: 16, uppercase: true)
            } else if 0x80..<0xA0 ~= byte {
                text += "\u{FFFD}"
            } else {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            }
        }
        return text
    }
}

/// Checks the field lines of a head, because libcurl accepts lines that RFC 9112 forbids.
///
/// libcurl uses the last of two lengths, reads `0x5` as 0, and ignores a `Transfer-Encoding` with a blank before its
/// colon. A proxy in between may see the body end elsewhere, and treat the rest as the next response.
struct CurlFraming {
    /// The kind of the last field, which a folded line would continue.
    private enum Last {
        /// The status line.
        case nothing
        case framing
        case other
    }

    private var last = Last.nothing
    private var length: Int64?
    private var hasTransferCoding = false
    /// The last transfer coding so far, in lower case.
    private var lastCoding: String?

    /// Whether both a length and a transfer coding define the end of the body; libcurl uses the coding.
    var isAmbiguous: Bool { length != nil && hasTransferCoding }

    /// Whether libcurl ignores the length, because a transfer coding other than `chunked` is named, or an empty one.
    ///
    /// The body would end with the connection, and half of it would be a success. RFC 9112, section 6.3, treats such a
    /// response as an attempt to smuggle; `identity` is no transfer coding since RFC 7230.
    var ignoresLength: Bool { isAmbiguous && !isChunked }

    /// Whether the body consists of chunks.
    var isChunked: Bool { lastCoding == "chunked" }

    /// Why such a response is refused.
    static let ignoredLength =
        "the response has a Content-Length, and a Transfer-Encoding that is not chunked, so the length of its body is "
        + "ambiguous"

    /// Checks a field line without its line break.
    ///
    /// - Returns: Why the response is refused; nil if the line is valid.
    mutating func take(_ text: Slice<UnsafeRawBufferPointer>) -> String? {
        if let flaw = checkForm(of: text) { return flaw }
        if let first = text.first, Self.isBlank(first) { return nil }
        last = .other
        if let value = Self.value(of: "content-length:", in: text) {
            last = .framing
            return take(length: value)
                ? nil
                : "the response has \(length.map { "a Content-Length of \($0) and " } ?? "")"
                    + "the field \(Self.beginning(of: text)), so the length of its body is ambiguous"
        }
        if let value = Self.value(of: "transfer-encoding:", in: text) {
            last = .framing
            hasTransferCoding = true
            return take(transferCodings: value)
        }
        return nil
    }

    /// Checks a line for control characters, folds and the name of a field.
    private func checkForm(of text: Slice<UnsafeRawBufferPointer>) -> String? {
        guard !Self.hasControlCharacter(text) else {
            return "the field line \(Self.quoted(text)) of the response holds a control character"
        }
        if let first = text.first, Self.isBlank(first) {
            // RFC 9112, section 5.2: a folded line continues the value before it.
            return last == .other
                ? nil : "the response has the folded line \(Self.quoted(text)) where it is not allowed"
        }
        guard let colon = text.firstIndex(of: UInt8(ascii: ":")), colon > 0,
            text[..<colon].allSatisfy(ByteSet.token.contains)
        else { return "the response has the line \(Self.quoted(text)), which is not a header field" }
        return nil
    }

    /// Checks a trailer line without its line break; libcurl before 7.88 accepts any line.
    ///
    /// libcurl 8.18 and later refuses a folded trailer, so it is refused over every version.
    ///
    /// - Returns: Why the response is refused; nil if the line is valid.
    static func flaw(inTrailer text: Slice<UnsafeRawBufferPointer>) -> String? {
        text.isEmpty ? nil : CurlFraming().checkForm(of: text)
    }

    /// RFC 9112, section 6.3: repeated equal lengths, in several fields or in a list, are one length.
    private mutating func take(length value: Slice<UnsafeRawBufferPointer>) -> Bool {
        for element in value.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
            let digits = Self.trimmed(element)
            guard !digits.isEmpty, digits.allSatisfy(ByteSet.decimalDigits.contains) else { return false }
            var number: Int64 = 0
            for digit in digits {
                let (tens, isTooLarge) = number.multipliedReportingOverflow(by: 10)
                let (sum, isLarger) = tens.addingReportingOverflow(Int64(digit - UInt8(ascii: "0")))
                guard !isTooLarge, !isLarger else { return false }
                number = sum
            }
            guard number == length ?? number else { return false }
            length = number
        }
        return true
    }

    /// RFC 9112, sections 6.1 and 7: `chunked` appears once.
    ///
    /// Any other coding was not requested; libcurl would decode it without a limit. `identity` changes nothing, but it is
    /// no coding since RFC 7230: after it, libcurl 8.4 to 8.12 takes the chunks for the body.
    private mutating func take(transferCodings value: Slice<UnsafeRawBufferPointer>) -> String? {
        for element in value.split(separator: UInt8(ascii: ",")) {
            let name = String(decoding: Self.trimmed(element).prefix(32), as: UTF8.self).lowercased()
            if name.isEmpty { continue }
            if let lastCoding, lastCoding == "chunked" || name == "chunked" {
                return "the response names the transfer coding \(name) after \(lastCoding)"
            }
            guard name == "chunked" || name == "identity" else {
                return "the body came in the transfer coding \(name), which was not requested"
            }
            lastCoding = name
        }
        return nil
    }

    /// A line without its CR LF or LF; a second CR stays, because it is a bare CR (RFC 9112, section 2.2).
    static func withoutLineEnd(_ line: UnsafeRawBufferPointer) -> Slice<UnsafeRawBufferPointer> {
        var end = line.count
        if end > 0, line[end - 1] == UInt8(ascii: "\n") { end -= 1 }
        if end > 0, line[end - 1] == UInt8(ascii: "\r") { end -= 1 }
        return line[..<end]
    }

    static func hasControlCharacter(_ text: Slice<UnsafeRawBufferPointer>) -> Bool {
        !text.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == UInt8(ascii: "\t") }
    }

    /// The value of a field, whose name with colon is passed in lower case; nil for another field.
    private static func value(
        of name: StaticString,
        in line: Slice<UnsafeRawBufferPointer>
    ) -> Slice<UnsafeRawBufferPointer>? {
        let count = name.utf8CodeUnitCount
        let expected = UnsafeRawBufferPointer(start: name.utf8Start, count: count)
        guard line.count >= count, line[count - 1] == UInt8(ascii: ":") else { return nil }
        return zip(line, expected).allSatisfy { $0 | 0x20 == $1 | 0x20 } ? line[count...] : nil
    }

    /// The first 64 bytes of a line for an error's text, with secrets replaced.
    static func beginning(of line: some Collection<UInt8>) -> String {
        let read = Data(line.prefix(64 + Redactor.marginByteCount))
        return String(reflecting: Redactor.standard.redact(prefixOf: read, byteCount: 64, mediaType: .plainText))
    }

    /// A field line for an error's text: the text before the colon, at most 32 bytes.
    ///
    /// The value may be a secret, such as a cookie. A line without a colon may be a secret as a whole.
    private static func quoted(_ line: some Collection<UInt8>) -> String {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return "of \(line.count) bytes" }
        return String(reflecting: String(decoding: line[..<colon].prefix(32), as: UTF8.self) + ": …")
    }

    private static func trimmed(_ bytes: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer> {
        var rest = bytes.drop(while: isBlank)
        while let last = rest.last, isBlank(last) { rest = rest.dropLast() }
        return rest
    }

    static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
    }
}
