// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Parses a response's head from libcurl: the status, and the fields in order, including repeated ones.
struct CurlResponseHead {
    let status: HTTPStatus
    let headers: HTTPHeaders

    /// Parses a status line, with or without a reason phrase, and the field lines after it; nil without a status.
    init?(_ bytes: [UInt8]) {
        guard let status = CurlHeadBuffer.status(of: bytes) else { return nil }
        self.status = HTTPStatus(rawValue: status)
        headers = bytes.withUnsafeBytes { Self.fields(in: $0) }
    }

    private static func fields(in bytes: UnsafeRawBufferPointer) -> HTTPHeaders {
        var headers = HTTPHeaders()
        var pending: (name: HTTPHeaders.Name, value: String)?
        var start = end(ofLineAt: 0, in: bytes)
        while start < bytes.count {
            let next = end(ofLineAt: start, in: bytes)
            let line = trimmed(bytes, start..<next)
            start = next
            guard let first = line.first else { continue }
            if first == UInt8(ascii: " ") || first == UInt8(ascii: "\t") {
                // RFC 9112, section 5.2: a folded line continues the value before it.
                let rest = line.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
                if let name = pending?.name { pending?.value += " " + text(rest, of: name) }
                continue
            }
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { continue }
            if let field = pending { headers.append(field.name, field.value) }
            let value = line[(colon + 1)...].drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
            let name = HTTPHeaders.Name(String(decoding: line[..<colon], as: UTF8.self))
            pending = (name, text(value, of: name))
        }
        if let field = pending { headers.append(field.name, field.value) }
        return headers
    }

    private static func end(ofLineAt start: Int, in bytes: UnsafeRawBufferPointer) -> Int {
        bytes[start...].firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? bytes.count
    }

    /// The line without its line break and trailing blanks.
    private static func trimmed(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> Slice<UnsafeRawBufferPointer> {
        var end = range.upperBound
        while end > range.lowerBound, bytes[end - 1] <= UInt8(ascii: " ") { end -= 1 }
        return bytes[range.lowerBound..<end]
    }

    private static func text(_ bytes: Slice<UnsafeRawBufferPointer>, of name: HTTPHeaders.Name) -> String {
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
