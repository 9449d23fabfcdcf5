// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Collects the lines of a response's head, which libcurl delivers one by one.
///
/// Heads of status 1xx and trailers are skipped. libcurl keeps all of these lines until the handle is freed, so all
/// lines of a response count against one limit.
struct CurlHeadBuffer {
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

    private(set) var bytes: [UInt8] = []

    /// Whether a complete head may still be replaced by another one.
    private(set) var isProvisional = false

    /// Whether the final head is complete.
    private(set) var isComplete = false

    /// Whether the next line is the first line of a head.
    var isAtStart: Bool { !isInside && !isComplete }

    private var status = 0
    private var isInside = false
    private var interimCount = 0
    /// The bytes of all lines, of all heads and trailers.
    private var byteCount = 0
    /// The number of lines of all heads and trailers that may be fields.
    private var fieldCount = 0
    private var framing = CurlFraming()

    /// Whether the request may have been sent with `Expect: 100-continue`.
    var mayExpectContinue = false

    /// Whether the head has a `Content-Encoding`.
    private(set) var isEncoded = false

    /// Whether two fields define the end of the body, so that the connection must not be reused.
    var hasDoubtfulEnd: Bool { framing.isAmbiguous }

    /// Whether the connection uses HTTP/1.1.
    ///
    /// Status lines with any other version are then refused: a server may falsely respond with `HTTP/2`. libcurl would
    /// believe it, and would send several requests at once on the HTTP/1.1 connection.
    var isHTTP1 = false

    /// Prepares for the next response.
    mutating func reset(mayExpectContinue: Bool, isHTTP1: Bool = false) {
        self = CurlHeadBuffer()
        self.mayExpectContinue = mayExpectContinue
        self.isHTTP1 = isHTTP1
    }

    /// Makes the complete head final; trailers may follow.
    mutating func keepFinal() {
        isComplete = true
    }

    /// Returns the head and removes it.
    mutating func take() -> [UInt8] {
        defer { (bytes, isProvisional) = ([], false) }
        return bytes
    }

    /// Appends one line with its line break.
    mutating func append(_ line: UnsafeRawBufferPointer) -> Step {
        byteCount += line.count
        guard byteCount <= Self.maximumByteCount else {
            let part = isComplete ? "the head of the response and its trailers are" : "the head of the response is"
            return .refused("\(part) longer than \(Self.maximumByteCount) bytes")
        }
        if isComplete || isInside, !Self.isBlank(line) {
            fieldCount += 1
            guard fieldCount <= Self.maximumFieldCount else { return .refused(Self.tooManyFields) }
        }
        guard !isComplete else { return CurlFraming.flaw(inTrailer: line).map { .refused($0) } ?? .proceed }
        if !isInside {
            // libcurl reads "http/1.1 500 No" as a 200.
            guard let status = Self.status(of: line), !isHTTP1 || line.starts(with: "HTTP/1.".utf8) else {
                let beginning = CurlFraming.beginning(of: line)
                let version = isHTTP1 && Self.status(of: line) != nil ? " of HTTP/1.1" : ""
                return .refused("the response starts with \(beginning), and not with a status line\(version)")
            }
            guard !CurlFraming.hasControlCharacter(CurlFraming.withoutLineEnd(line)) else {
                return .refused("the status line of the response holds a control character")
            }
            self.status = status
            isInside = true
            isProvisional = false
            isEncoded = false
            framing = CurlFraming()
            bytes.removeAll(keepingCapacity: true)
            bytes.reserveCapacity(512)
            bytes.append(contentsOf: line)
            return .proceed
        }
        if Self.isBlank(line) { return complete() }
        bytes.append(contentsOf: line)
        if let flaw = framing.take(line) { return .refused(flaw) }
        if !isEncoded { isEncoded = CurlFraming.value(of: "content-encoding:", in: line) != nil }
        return .proceed
    }

    private mutating func complete() -> Step {
        isInside = false
        // A response without a body names the length that its body would have.
        if framing.ignoresLength, status >= 200, status != 204, status != 304 {
            return .refused(CurlFraming.ignoredLength)
        }
        switch status {
        case 101:
            return .refused("the server switched to a protocol that was not requested")
        case 100..<200:
            interimCount += 1
            return interimCount <= Self.maximumInterimCount
                ? .proceed : .refused("the server sent more than \(Self.maximumInterimCount) interim responses")
        case 417 where mayExpectContinue:
            isProvisional = true
            return .complete(isProvisional: true)
        default:
            isComplete = true
            return .complete(isProvisional: false)
        }
    }

    private static func isBlank(_ line: UnsafeRawBufferPointer) -> Bool {
        CurlFraming.withoutLineEnd(line).isEmpty
    }

    /// The number in `HTTP/1.1 200 OK`, `HTTP/2 200 ` or `HTTP/1.1 200`; nil for any other line.
    ///
    /// Some versions of libcurl also accept two spaces before the status, no space after it, or a status below 100. RFC
    /// 9112, section 4, and RFC 9110, section 15, have none of these.
    static func status(of line: some Collection<UInt8>) -> Int? {
        guard line.starts(with: "HTTP/".utf8) else { return nil }
        let rest = line.drop { $0 != UInt8(ascii: " ") }.dropFirst()
        let digits = rest.prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
        let hasEnd = rest.dropFirst(3).first.map { $0 <= UInt8(ascii: " ") } ?? true
        guard digits.count == 3, digits.first != UInt8(ascii: "0"), hasEnd else { return nil }
        return digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }
}
