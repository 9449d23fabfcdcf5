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

    /// From 7.80.0 on, libcurl calls a callback before each send.
    static let asksBeforeSending = versionNumber >= 0x07_50_00

    /// The texts of this version.
    static let texts = CurlLogTexts(version: versionNumber)

    /// Whether libcurl's log is read for facts about HTTP/2; the facts of a send need the callback before it.
    static let readsLog: Bool = {
        guard asksBeforeSending, texts.areKnown else { return false }
        // This holds for the process, but libcurl writes a trace only for handles whose log is on.
        if texts.needsTrace, let function = dlsym(nil, "curl_global_trace") {
            _ = unsafeBitCast(function, to: (@convention(c) (UnsafePointer<CChar>) -> Int32).self)("http/2")
        }
        return true
    }()

    /// Before 8.6, libcurl reads nothing more for a transfer over HTTP/2 once the response has its announced length.
    static let stopsReadingAtLength = versionNumber < 0x08_06_00

    /// In 7.88, HTTP/2 with prior knowledge breaks a reused connection.
    static let breaksPriorKnowledge = (0x07_58_00..<0x07_59_00).contains(versionNumber)

    /// From 7.88.1 to 8.0, a response over HTTP/2 may never end if it does not fit in its transfer's buffer.
    ///
    /// libcurl then holds data back, and does not process the end of the response until the server sends more data on
    /// the connection. With the default buffer of 16 KiB, each response of 16 KiB that arrived at once did not end in
    /// the clear. Over TLS, one of 20 responses of 24 KiB to 96 KiB did not, if another request of the connection
    /// waited for its response, because each transfer reads for all. libcurl 8.1 has the fix.
    private static let losesEndsOfResponses = (0x07_58_01..<0x08_01_00).contains(versionNumber)

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
            versionName: info.version.map { String(cString: $0) } ?? "?",
            hasTLS: info.features & Int32(CCURL_VERSION_SSL) != 0
        )
    }()

    /// Initializes libcurl.
    ///
    /// Starting it twice is harmless, and thread-safe since 7.84.
    private static let start = curl_global_init(CCURL_GLOBAL_ALL)
    private static let versionNumber = start == 0 ? curl_version_info(0)?.pointee.version_num ?? 0 : 0

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
}

#endif
