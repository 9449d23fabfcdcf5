// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import CCurl

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
