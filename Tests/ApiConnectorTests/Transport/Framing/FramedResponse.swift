// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Testing

/// A response of HTTP/1.1, byte for byte, and what each transport reads in it.
///
/// The tables name the section of the RFC. `CurlProvider` refuses a response whose end, status or fields another reader
/// could read in another way. `URLSession` on Linux is listed where it differs.
struct FramedResponse: Sendable, CustomTestStringConvertible {
    enum Outcome: Sendable, Equatable {
        /// A response with this status, this body, and this value of the field `X`.
        case accepted(Int, String, x: String?)
        case refused(ApiConnectorError.Kind)
        /// M14: Foundation on Linux traps; not played.
        case endsTheProcess

        /// Status 200 with the body `hello`.
        static let hello = accepted(200, "hello", x: nil)
        static let malformed = refused(.malformedResponse)
        static let lost = refused(.connectionLost)

        static func body(_ text: String) -> Outcome { .accepted(200, text, x: nil) }
        static func hello(x: String) -> Outcome { .accepted(200, "hello", x: x) }
        static func status(_ status: Int, _ body: String = "hello") -> Outcome { .accepted(status, body, x: nil) }
    }

    /// The bytes that the server sends.
    struct Bytes: Sendable {
        let bytes: [UInt8]

        /// Each scalar is a byte.
        private init(_ text: String) {
            bytes = text.unicodeScalars.map { UInt8($0.value) }
        }

        static func raw(_ text: String) -> Bytes { Bytes(text) }

        /// This status line before a body of 5 bytes.
        static func status(_ line: String) -> Bytes { Bytes("\(line)\r\nContent-Length: 5\r\n\r\nhello") }

        /// These lines before the length of the body.
        static func fields(_ lines: [String]) -> Bytes {
            status("HTTP/1.1 200 OK" + lines.map { "\r\n" + $0 }.joined())
        }

        /// This value of `Content-Length`.
        static func length(_ value: String, body: String = "hello", then line: String? = nil) -> Bytes {
            Bytes("HTTP/1.1 200 OK\r\nContent-Length: \(value)\r\n\(line.map { $0 + "\r\n" } ?? "")\r\n\(body)")
        }

        /// This value of `Transfer-Encoding`.
        static func coding(_ value: String, body: String = "5\r\nhello\r\n0\r\n\r\n") -> Bytes {
            Bytes("HTTP/1.1 200 OK\r\nTransfer-Encoding:\(value)\r\n\r\n\(body)")
        }

        /// This body in chunks.
        static func chunks(_ body: String) -> Bytes { coding(" chunked", body: body) }

        /// These bytes after the last chunk of `hello`.
        static func trailers(_ text: String) -> Bytes { chunks("5\r\nhello\r\n0\r\n\(text)") }
    }

    let testDescription: String
    let method: HTTPMethod
    let bytes: [UInt8]
    /// Whether the server sends it when it has read the request's head only.
    let isEarly: Bool
    let curl: Outcome
    private let foundationOver788: Outcome

    init(
        _ name: String,
        _ bytes: Bytes,
        method: HTTPMethod = .get,
        isEarly: Bool = false,
        _ outcome: Outcome,
        foundation: Outcome? = nil
    ) {
        testDescription = name
        self.method = isEarly ? .post : method
        self.bytes = bytes.bytes
        self.isEarly = isEarly
        curl = outcome
        foundationOver788 = foundation ?? outcome
    }

    /// The outcome over `URLSession` on Linux with the loaded libcurl.
    var foundation: Outcome {
        FoundationChange.outcome(of: testDescription, in: Self.foundationChanges) ?? foundationOver788
    }

    static func many(_ text: String, _ count: Int) -> String { String(repeating: text, count: count) }
}

extension FramedResponse {
    static let all =
        statusLines + lineEnds + fields + folds + interim + bodiless + lengths + chunks + trailers + codings + cuts
        + early
}
