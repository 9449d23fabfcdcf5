// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import CCurl
import Synchronization

/// OpenSSL's reports about the connection of one transfer.
struct CurlTLSWatch {
    /// Set when libcurl opens a TLS connection for this transfer.
    private var certificateRequest: CurlOpenSSLFlag?
    /// Set during a response over TLS whose body ends when the connection closes.
    private var closeNotify: CurlOpenSSLFlag?
}

// MARK: Client certificates

extension CurlTLSWatch {
    private static let setMessageCallback: ccurl_ssl_set_message_callback? =
        CurlOpenSSL.function("SSL_CTX_set_msg_callback")
    private static let context: ccurl_ssl_get_context? = CurlOpenSSL.function("SSL_get_SSL_CTX")

    /// Whether libcurl's OpenSSL has the functions that ``watchCertificate(_:)`` calls.
    static let canWatchCertificates = setMessageCallback != nil && context != nil

    /// Whether the server has requested a client certificate that it has not accepted yet.
    ///
    /// With TLS 1.3, a server rejects a wrong or missing certificate only after the handshake. Its alert may be lost in
    /// the reset that follows, and the failure then looks like a lost connection.
    var isAskingForCertificate: Bool { certificateRequest?.isSet ?? false }

    /// Watches the connection that is created with a context, of which libcurl creates one per connection.
    ///
    /// libcurl releases the context of a failed connection before it reports the failure.
    mutating func watchCertificate(_ context: UnsafeMutableRawPointer?) {
        guard let context, let setMessageCallback = Self.setMessageCallback else { return }
        certificateRequest = CurlOpenSSLFlag(context)
        setMessageCallback(context) { isWritten, version, type, bytes, count, ssl, _ in
            // Only handshake messages.
            guard isWritten == 0, type == 22, count > 0, let message = bytes?.load(as: UInt8.self),
                let isAsking = CurlTLSWatch.isAsking(after: message, version: version)
            else { return }
            CurlOpenSSLFlag.set(CurlTLSWatch.context?(ssl), isAsking)
        }
    }

    /// Whether the server still expects a certificate after a handshake message; nil if the message does not say.
    ///
    /// A server sends session tickets when it has verified the certificate. In TLS 1.2, it then also sends its
    /// `Finished`. In TLS 1.3, that message comes before the certificate (RFC 8446, section 2).
    static func isAsking(after message: UInt8, version: Int32) -> Bool? {
        let (newSessionTicket, certificateRequest, finished): (UInt8, UInt8, UInt8) = (4, 13, 20)
        let tls13 = 0x0304
        return switch message {
        case certificateRequest: true
        case newSessionTicket: false
        case finished: version < tls13 ? false : nil
        default: nil
        }
    }
}

// MARK: The end of a connection

extension CurlTLSWatch {
    /// Whether the body ends with the connection, and the server has not sent `close_notify`.
    var isCut: Bool { closeNotify?.isSet == false }

    /// Watches the connection of a transfer for `close_notify`, if libcurl knows no length of the body, which ends with
    /// the connection.
    ///
    /// Without `close_notify`, an attacker or a crash may have truncated such a body. libcurl does not distinguish an
    /// end with `close_notify` from one without it. From 7.87 on, its own BIO hides the end of the socket from OpenSSL.
    /// Before 7.87, libcurl with OpenSSL 1.1 ignores the end. So OpenSSL reports the alerts that it reads.
    mutating func watchEnd(of transfer: CurlTransfer, _ easy: CurlEasy) {
        guard transfer.requestHead.isSecure, transfer.request.method != .head,
            easy.byteCount(CCURLINFO_CONTENT_LENGTH_DOWNLOAD_T) == nil,
            let setInfoCallback = CurlOpenSSL.setInfoCallback, let ssl = CurlOpenSSL.connection(of: easy)
        else { return }
        closeNotify = CurlOpenSSLFlag(ssl)
        setInfoCallback(ssl) { ssl, event, alert in
            guard event == Int32(CCURL_SSL_CB_READ_ALERT), alert & 0xFF == 0 else { return }
            CurlOpenSSLFlag.set(ssl, true)
        }
    }

    /// The error of a body that may be truncated.
    static func cut(_ request: ApiRequest) -> ApiConnectorError {
        ApiConnectorError(
            .connectionLost,
            "the server closed the TLS connection without close_notify, and the response has no Content-Length, so that "
                + "some of the body may be missing",
            request: request
        )
    }
}

/// A flag that a callback of OpenSSL sets, found by the address of OpenSSL's context or connection.
///
/// The address is only used as a key, so a flag may outlive its object, and another object may have the same address.
private final class CurlOpenSSLFlag {
    private final class Entry: Sendable {
        let isSet = Atomic(false)
    }

    private static let entries = Locked<[UInt: Entry]>([:])

    private let address: UInt
    private let entry = Entry()

    init(_ object: UnsafeMutableRawPointer) {
        address = UInt(bitPattern: object)
        Self.entries.withLock { [address, entry] in $0[address] = entry }
    }

    deinit {
        Self.entries.withLock { [address, entry] entries in
            if entries[address] === entry { entries[address] = nil }
        }
    }

    var isSet: Bool { entry.isSet.load(ordering: .relaxed) }

    static func set(_ object: UnsafeRawPointer?, _ isSet: Bool) {
        let entry = entries.withLock { $0[UInt(bitPattern: object)] }
        entry?.isSet.store(isSet, ordering: .relaxed)
    }
}

/// Functions of the OpenSSL library that libcurl has loaded.
enum CurlOpenSSL {
    /// The major version of libcurl's OpenSSL, such as "3" or "1.1"; nil for another TLS library.
    static let version: String? = {
        guard CurlRuntime.flaw == nil, let name = curl_version_info(0)?.pointee.ssl_version else { return nil }
        return version(in: String(cString: name))
    }()

    /// The version in libcurl's text, such as "OpenSSL/3.0.19" or "(GnuTLS/3.7.9) OpenSSL/1.1.1n".
    static func version(in text: String) -> String? {
        // The libraries in parentheses are available to libcurl but not in use.
        let active = text.split(separator: " ").first { $0.hasPrefix("OpenSSL/") }
        guard let numbers = active?.dropFirst("OpenSSL/".count).split(separator: "."), numbers.count > 1 else {
            return nil
        }
        return numbers[0] == "1" ? "1.\(numbers[1].prefix { $0.isNumber })" : String(numbers[0])
    }

    static let setInfoCallback: ccurl_ssl_set_info_callback? = function("SSL_set_info_callback")

    /// OpenSSL's connection of a transfer; nil if the transfer has none.
    static func connection(of easy: CurlEasy) -> UnsafeMutableRawPointer? {
        var pointer: UnsafeMutableRawPointer?
        guard ccurl_easy_get_pointer(easy.pointer, CCURLINFO_TLS_SSL_PTR, &pointer) == 0,
            let session = pointer?.assumingMemoryBound(to: ccurl_tls_session.self).pointee,
            session.backend == Int32(CCURL_SSL_BACKEND_OPENSSL)
        else { return nil }
        return session.internals
    }

    /// Whether the server has sent `close_notify` on the connection of a transfer; nil if that is not known.
    static func isNotified(_ easy: CurlEasy) -> Bool? {
        guard let getShutdown, let connection = connection(of: easy) else { return nil }
        // SSL_RECEIVED_SHUTDOWN is 2.
        return getShutdown(connection) & 2 != 0
    }

    private static let getShutdown: (@convention(c) (UnsafeMutableRawPointer) -> Int32)? = function("SSL_get_shutdown")

    private static let getVersion: ccurl_ssl_get_version? = function("SSL_get_version")

    /// The TLS version of a transfer's connection, such as `1.3`; nil without OpenSSL.
    static func protocolVersion(of easy: CurlEasy) -> String? {
        guard let getVersion, let connection = connection(of: easy), let name = getVersion(connection) else {
            return nil
        }
        // This runs for each response, so the usual versions are literals, which need no conversion.
        if strcmp(name, "TLSv1.3") == 0 { return "1.3" }
        if strcmp(name, "TLSv1.2") == 0 { return "1.2" }
        let text = String(cString: name)
        return text.hasPrefix("TLSv") ? String(text.dropFirst("TLSv".count)) : text
    }

    /// Frees libcrypto's data for the calling thread; otherwise this happens later, when the thread ends.
    static let endThread: (@convention(c) () -> Void)? = function("OPENSSL_thread_stop")

    /// A function of the OpenSSL that libcurl uses, by name.
    ///
    /// Another OpenSSL may also be loaded, and a package may have given libcurl's OpenSSL any file name. So the function
    /// is looked up in libcurl and in the libraries that libcurl was linked with.
    static func function<Function>(_ name: String) -> Function? {
        guard version != nil, let libcurl = dlopen("libcurl.so.4", RTLD_LAZY | RTLD_NOLOAD) else { return nil }
        return dlsym(libcurl, name).map { unsafeBitCast($0, to: Function.self) }
    }
}

#endif
