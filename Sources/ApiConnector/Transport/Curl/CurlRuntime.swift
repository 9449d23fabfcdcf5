// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import CCurl
#endif

/// libcurl's texts that decide something, and the versions that write them.
///
/// libcurl promises no text. So each decision has a safe side for a text that is missing: a request that is not
/// idempotent is not sent again, and a response that may be malformed is not retried. The texts of a version newer than
/// ``newestVersion`` are not used at all.
struct CurlLogTexts {
    /// The oldest supported version: 7.76.1.
    static let oldestVersion: UInt32 = 0x07_4C_01

    /// The newest version whose texts were read in its source and tested: 8.23.0.
    static let newestVersion: UInt32 = 0x08_17_00

    /// libcurl's version, such as `0x07_58_01` for 7.88.1.
    let version: UInt32

    /// Whether the texts of this version are known.
    var areKnown: Bool { Self.oldestVersion...Self.newestVersion ~= version }

    /// How a version shows that the server refused the stream of a request on a reused connection.
    enum Refusal {
        /// The read fails without an error text, and no other reason has none: in 7.88.
        case failedRead
        /// As in 7.88, but the end of the connection has no error text either: from 8.13 to 8.16.
        case failedReadOfOpenConnection
        /// The text names the refusal: from 8.17 on, and in a trace.
        case named
    }

    var refusal: Refusal {
        switch version {
        case ..<0x08_00_00: .failedRead
        case 0x08_0D_00..<0x08_11_00: .failedReadOfOpenConnection
        default: .named
        }
    }

    /// Whether a connection that libcurl gives up without a GOAWAY in its log means a violation of HTTP/2: in 7.88.
    ///
    /// From 8.3 on, the log or its trace names the violation.
    var showsViolationsByClosing: Bool { version < 0x08_00_00 }

    /// Whether only a trace of the frames shows that nghttp2 ended the connection because of a violation: from 8.3 to
    /// 8.12.
    ///
    /// libcurl does not notice it, and the transfer would wait for its response forever.
    var needsTrace: Bool { 0x08_03_00..<0x08_0D_00 ~= version }

    // MARK: The log of one request

    /// The start of a request's stream: in 7.88, and from 8.3 on.
    static let streams: [(start: StaticString, end: StaticString)] = [
        ("Using Stream ID: ", " (easy handle"), ("[HTTP/2] [", "] OPENED stream"),
    ]
    /// The server's GOAWAY: in 7.88, with libcurl's spelling, and from 8.3 on.
    static let goAways: [StaticString] = ["recveived GOAWAY, error=", "received GOAWAY, error="]
    /// The server has refused the stream of a request on a new connection: all versions.
    static let refusal = "REFUSED_STREAM, retrying"
    /// The server has refused a stream: from 8.17 on.
    static let namedRefusal: (start: StaticString, end: StaticString) = ("HTTP/2 stream ", " refused by server")
    /// The server has refused a stream, in a trace: from 8.3 to 8.16.
    static let tracedRefusal: (start: StaticString, end: StaticString) = ("[HTTP/2] [", "] REFUSED_STREAM")
    /// libcurl sends the request again: all versions.
    static let repetition = "Connection died, retrying"
    /// libcurl sends the request again over HTTP/1.1: all versions.
    static let downgrade = "Downgrades to HTTP/1.1"
    /// A connection has ended without a response: all versions.
    static let emptyReply = "Empty reply from server"
    /// A stream was closed during the request's body: all versions.
    static let closedStream: (start: StaticString, end: StaticString) = ("stream ", " closed")
    /// Too many connections are idle; it precedes ``closing``: up to 8.9.
    static let fullCache = "Connection cache is full"
    /// A connection is closed: up to 8.8.
    static let closing = "Closing connection "
    /// A connection stays open: all versions.
    static let kept: (start: StaticString, end: StaticString) = ("Connection #", " to host ")
    /// No part of the request was sent: up to 8.6.
    static let unsentHeads = ["Failed sending HTTP ", "Failed sending POST ", "Failed sending PUT "]

    // MARK: Violations of HTTP/2

    /// libcurl ends the connection, because of a violation if the error is not 0: from 8.13 on.
    static let violation: StaticString = "nghttp2 shuts down connection with error "
    /// libcurl ends the connection, because of a violation if the error is not 0: in a trace, from 8.3 on.
    static let tracedViolation: StaticString = "[HTTP/2] [0] -> FRAME[GOAWAY, error="
    /// libcurl resets a stream because of a frame: from 8.13 on.
    static let invalidFrame: (start: StaticString, end: StaticString) = ("[HTTP2] [", "] received invalid frame")
    /// A stream ended with an error code: up to 8.18.
    static let uncleanStream: (start: StaticString, end: StaticString) = ("HTTP/2 stream ", " was not closed cleanly: ")
    /// libcurl has reset a stream: from 8.19 on.
    static let ownReset: (start: StaticString, end: StaticString) = ("HTTP/2 stream ", " reset by curl")
    /// The server has reset a stream: from 8.19 on.
    static let serverReset: (start: StaticString, end: StaticString) = ("HTTP/2 stream ", " reset by server")
    /// The error code for a violation (RFC 9113, section 7).
    static let protocolError = "PROTOCOL_ERROR"
    /// nghttp2's negative code for a violation that it found, as an unsigned number: from 8.13 to 8.18.
    static let violationCode = "unknown (err 4294966"

    // MARK: Error texts

    /// nghttp2 does not accept the server's bytes: up to 8.12, and from 8.13 on.
    static let refusedInput = ["nghttp2_session_mem_recv", "nghttp2 recv error"]
    /// The framing of a chunk is invalid: all versions, from 8.6 on, and from 8.20 on.
    static let invalidChunks = ["in chunked-encoding", "chunk hex-length", "invalid chunk size"]
    /// The client's certificate or key cannot be used: all versions.
    static let ownCertificate = ["private key", "client certificate"]
    /// The response has more fields than libcurl's limit of 5,000: from 8.14 on.
    static let tooManyFields = "Too many response headers"
    /// The value of a field follows, which may be a secret: from 8.1 on.
    static let fieldValue = ", value: ["
    /// OpenSSL reports an alert of the server: all versions.
    static let alert = "alert"
    /// The server has none of the protocols that the handshake offers: OpenSSL's texts from 3.0 on, and of 1.1.1.
    static let noProtocol = ["no application protocol", "reason(1120)"]
    /// TLS ended without `close_notify`: OpenSSL's text, and libcurl's for OpenSSL 1.1.1.
    static let unexpectedEnds = ["unexpected eof while reading", "SSL_read: SSL_ERROR_SYSCALL, errno 0"]

    /// The kind of a failed transfer, from libcurl's code, and from its text if that is known.
    ///
    /// Without a known text, the codes 16, 92 and, after the head, 56 do not distinguish a lost connection from a
    /// malformed response, which must not be retried. The system's error names a reset connection in any version.
    ///
    /// - Parameters:
    ///   - words: libcurl's error text.
    ///   - hasHead: Whether the head of the response is complete.
    ///   - isReset: Whether the system's error says that the server has reset the connection.
    func kind(of code: Int32, words: String, hasHead: Bool, isReset: Bool) -> ApiConnectorError.Kind {
        if !areKnown, code == 16 || code == 92 || (code == 56 && hasHead && !isReset) { return .malformedResponse }
        return TransferErrors.kind(of: code, words: words)
    }
}

#if Curl && os(Linux)
/// The libcurl that this process has loaded.
///
/// It is initialized and checked once.
enum CurlRuntime {
    /// From 7.87.0 on, a handle can be removed during a name lookup without waiting for the resolver.
    static let hasQuickExit = versionNumber >= 0x07_57_00

    /// From 7.88.0 on, libcurl also sends TLS data with `MSG_NOSIGNAL` (seen with `strace`), so a broken connection
    /// does not raise SIGPIPE in the sending thread.
    static let wardsOffSignals = versionNumber >= 0x07_58_00

    /// From 7.87.0 on, a multi handle caches the trusted certificates.
    static let keepsAuthorities = versionNumber >= 0x07_57_00

    /// From 8.23 on, the settings of TLS in the callback for a new socket have no effect on its connection.
    static let readsTLSSettingsEarly = versionNumber >= 0x08_17_00

    /// From 8.21 on, libcurl's default folder of trusted certificates applies even if no folder is set.
    static let addsCertificateFolder = versionNumber >= 0x08_15_00

    /// From 7.80.0 on, libcurl calls a callback before each send.
    static let asksBeforeSending = versionNumber >= 0x07_50_00

    /// The texts of this version.
    static let texts = CurlLogTexts(version: versionNumber)

    /// Whether this libcurl may use HTTP/2.
    static let hasHTTP2 = mayUseHTTP2(versionNumber)

    /// Whether libcurl's log is read for facts about HTTP/2.
    static let readsLog: Bool = {
        guard hasHTTP2, texts.areKnown else { return false }
        // This holds for the process, but libcurl writes a trace only for handles whose log is on.
        if texts.needsTrace, let function = dlsym(nil, "curl_global_trace") {
            _ = unsafeBitCast(function, to: (@convention(c) (UnsafePointer<CChar>) -> Int32).self)("http/2")
        }
        return true
    }()

    /// Before 8.6, libcurl reads nothing more for a transfer over HTTP/2 once the response has its announced length.
    static let stopsReadingAtLength = versionNumber < 0x08_06_00

    /// From 8.4 to 8.14, libcurl reads no response over HTTP/2 while the request's body is paused, until something resumes
    /// the transfer.
    static let readsNothingWhileSendIsPaused = (0x08_04_00..<0x08_0F_00).contains(versionNumber)

    /// In 8.5, libcurl reads from the socket of a paused transfer whenever there is data, and keeps it in memory.
    static let readsWhilePaused = (0x08_05_00..<0x08_06_00).contains(versionNumber)

    /// In 7.88, HTTP/2 with prior knowledge breaks a reused connection.
    static let breaksPriorKnowledge = (0x07_58_00..<0x07_59_00).contains(versionNumber)

    /// In 7.88.1, a response over HTTP/2 may never end if it does not fit in its transfer's buffer.
    ///
    /// libcurl then holds data back, and does not process the end of the response until the server sends more data on
    /// the connection. With the default buffer of 16 KiB, each response of 16 KiB that arrived at once did not end in
    /// the clear. Over TLS, one of 20 responses of 24 KiB to 96 KiB did not, if another request of the connection
    /// waited for its response, because each transfer reads for all. libcurl 8.1 has the fix.
    private static let losesEndsOfResponses = versionNumber == 0x07_58_01

    /// The size of a transfer's buffer for HTTP/2, if the default does not do: 512 KiB, libcurl's maximum.
    ///
    /// The system only gives memory for the part that is used.
    static let sharedBufferByteCount: Int? = losesEndsOfResponses ? 512 << 10 : nil

    /// Why this libcurl cannot be used; nil if it can.
    static let flaw: String? = {
        guard start == 0 else { return "libcurl does not start: curl_global_init returned \(start)" }
        guard let info = curl_version_info(0)?.pointee else { return "libcurl does not report its version" }
        return flaw(
            version: info.version_num,
            versionName: versionName,
            hasTLS: info.features & Int32(CCURL_VERSION_SSL) != 0
        )
    }()

    /// Why this libcurl does not have the HTTP version that a configuration demands; nil if it does.
    static func flaw(of httpVersion: CurlConfiguration.HTTPVersion) -> String? {
        flaw(of: httpVersion, version: versionNumber, versionName: versionName)
    }

    private static var versionName: String {
        curl_version_info(0)?.pointee.version.map { String(cString: $0) } ?? "?"
    }

    /// Initializes libcurl.
    ///
    /// Starting it twice is harmless, and thread-safe since 7.84.
    private static let start = curl_global_init(CCURL_GLOBAL_ALL)
    private static let versionNumber = start == 0 ? curl_version_info(0)?.pointee.version_num ?? 0 : 0

    /// Whether a version may use HTTP/2: 7.88, and 8.3 or later.
    ///
    /// The other versions do not tell a violation of HTTP/2 from the end of the connection: before 7.88, half a body
    /// becomes a success, and from 8.0 to 8.2, the transfer waits until its time limit. Versions before 7.88 do not log a
    /// GOAWAY either, which says whether the server has processed a request.
    static func mayUseHTTP2(_ version: UInt32) -> Bool {
        0x07_58_00..<0x07_59_00 ~= version || version >= 0x08_03_00
    }

    static func flaw(version: UInt32, versionName: String, hasTLS: Bool) -> String? {
        if version < CurlLogTexts.oldestVersion {
            return
                "libcurl 7.76.1 or later is needed, but libcurl.so.4 is \(versionName); install a newer libcurl, or "
                + "depend on ApiConnector with traits: [], which selects URLSession"
        }
        if !hasTLS {
            return "a libcurl with TLS is needed, but libcurl.so.4, \(versionName), has no TLS; install another "
                + "libcurl, or use URLSessionProvider"
        }
        return nil
    }

    static func flaw(
        of httpVersion: CurlConfiguration.HTTPVersion,
        version: UInt32,
        versionName: String
    ) -> String? {
        guard httpVersion == .http2PriorKnowledge, !mayUseHTTP2(version) else { return nil }
        return "HTTP/2 needs libcurl 7.88, or 8.3 or later, but libcurl.so.4 is \(versionName); set "
            + "CurlConfiguration.httpVersion to .automatic or .http1, or install a newer libcurl"
    }
}
#endif
