// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

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
    var ignoresLength: Bool { isAmbiguous && lastCoding != "chunked" }

    /// Why such a response is refused.
    static let ignoredLength =
        "the response has a Content-Length, and a Transfer-Encoding that is not chunked, so the length of its body is "
        + "ambiguous"

    /// Checks a field line with its line break.
    ///
    /// - Returns: Why the response is refused; nil if the line is valid.
    mutating func take(_ line: UnsafeRawBufferPointer) -> String? {
        let text = Self.withoutLineEnd(line)
        if let flaw = checkForm(of: text) { return flaw }
        if let first = text.first, Self.isBlank(first) { return nil }
        last = .other
        if let value = Self.value(of: "content-length:", in: line) {
            last = .framing
            return take(length: value)
                ? nil
                : "the response has \(length.map { "a Content-Length of \($0) and " } ?? "")"
                    + "the field \(Self.beginning(of: text)), so the length of its body is ambiguous"
        }
        if let value = Self.value(of: "transfer-encoding:", in: line) {
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

    /// Checks a trailer line with its line break; libcurl before 7.88 accepts any line.
    ///
    /// libcurl 8.18 and later refuses a folded trailer, so it is refused over every version.
    ///
    /// - Returns: Why the response is refused; nil if the line is valid.
    static func flaw(inTrailer line: UnsafeRawBufferPointer) -> String? {
        let text = withoutLineEnd(line)
        return text.isEmpty ? nil : CurlFraming().checkForm(of: text)
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
    static func value(of name: StaticString, in line: UnsafeRawBufferPointer) -> Slice<UnsafeRawBufferPointer>? {
        let count = name.utf8CodeUnitCount
        let expected = UnsafeRawBufferPointer(start: name.utf8Start, count: count)
        guard line.count > count, line[count - 1] == UInt8(ascii: ":") else { return nil }
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
        while let last = rest.last, isBlank(last) || last == UInt8(ascii: "\r") || last == UInt8(ascii: "\n") {
            rest = rest.dropLast()
        }
        return rest
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
    }
}
