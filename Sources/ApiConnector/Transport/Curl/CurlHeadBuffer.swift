// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Collects the lines of a response's head as libcurl hands them over, one call a line.
///
/// Heads of status 1xx are skipped, and so is everything behind the final head: trailers.
struct CurlHeadBuffer {
    enum Step: Equatable {
        case proceed
        /// The head is complete; with a status of 417 libcurl may send the request again, and another head follow.
        case complete(isProvisional: Bool)
        case refused(String)
    }

    /// The most bytes that a head may have: 256 KiB.
    static let maximumByteCount = 256 * 1024

    private(set) var bytes: [UInt8] = []

    /// Whether a head is complete that another one may still replace.
    private(set) var isProvisional = false

    /// Whether the final head is complete.
    private(set) var isComplete = false

    private var status = 0
    private var isInside = false

    /// Whether the request may have been sent with `Expect: 100-continue`.
    var mayExpectContinue = false

    /// Whether the head names a `Content-Encoding`.
    private(set) var isEncoded = false

    /// Gets ready for the next response.
    mutating func reset(mayExpectContinue: Bool) {
        self = CurlHeadBuffer()
        self.mayExpectContinue = mayExpectContinue
    }

    /// Gives the head away.
    mutating func take() -> [UInt8] {
        defer { (bytes, isProvisional) = ([], false) }
        return bytes
    }

    /// Takes one line with its line break.
    mutating func append(_ line: UnsafeRawBufferPointer) -> Step {
        guard !isComplete else { return .proceed }
        if !isInside {
            guard let status = Self.status(of: line) else { return .proceed }
            self.status = status
            isInside = true
            isProvisional = false
            isEncoded = false
            bytes.removeAll(keepingCapacity: true)
            bytes.reserveCapacity(512)
            bytes.append(contentsOf: line)
            return .proceed
        }
        if Self.isBlank(line) { return complete() }
        guard line.count <= Self.maximumByteCount - bytes.count else {
            return .refused("the head of the response is longer than \(Self.maximumByteCount) bytes")
        }
        bytes.append(contentsOf: line)
        if !isEncoded { isEncoded = Self.value(of: "content-encoding:", in: line) != nil }
        if let codings = Self.value(of: "transfer-encoding:", in: line), let coding = Self.unknownCoding(in: codings) {
            return .refused("the body came in the transfer coding \(coding), which nobody asked for")
        }
        return .proceed
    }

    private mutating func complete() -> Step {
        isInside = false
        switch status {
        case 101:
            return .refused("the server switched to a protocol that nobody asked for")
        case 100..<200:
            return .proceed
        case 417 where mayExpectContinue:
            isProvisional = true
            return .complete(isProvisional: true)
        default:
            isComplete = true
            return .complete(isProvisional: false)
        }
    }

    private static func isBlank(_ line: UnsafeRawBufferPointer) -> Bool {
        line.allSatisfy { $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") }
    }

    /// What stands behind a field's name and colon, given in lower case; nil for another field.
    private static func value(of name: StaticString, in line: UnsafeRawBufferPointer) -> Slice<UnsafeRawBufferPointer>?
    {
        let count = name.utf8CodeUnitCount
        let expected = UnsafeRawBufferPointer(start: name.utf8Start, count: count)
        guard line.count > count, line[count - 1] == UInt8(ascii: ":") else { return nil }
        return zip(line, expected).allSatisfy { $0 | 0x20 == $1 | 0x20 } ? line[count...] : nil
    }

    /// The first transfer coding that is not `chunked`; libcurl would decode it unasked, within no limit.
    private static func unknownCoding(in value: Slice<UnsafeRawBufferPointer>) -> String? {
        let names = String(decoding: value, as: UTF8.self).lowercased().split(separator: ",")
        return names.lazy.map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }.first {
            !["", "chunked", "identity"].contains($0)
        }
    }

    /// The number in `HTTP/1.1 200 OK`, `HTTP/2 200 ` or `HTTP/1.1 200`; nil for any other line.
    static func status(of line: some Collection<UInt8>) -> Int? {
        guard line.starts(with: "HTTP/".utf8) else { return nil }
        let digits = line.drop { $0 != UInt8(ascii: " ") }.drop { $0 == UInt8(ascii: " ") }.prefix {
            UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0
        }
        guard digits.count == 3 else { return nil }
        return digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }
}
