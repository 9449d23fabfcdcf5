// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import CCurl
import Synchronization

/// Records whether the server of a new connection has requested a client certificate that it has not accepted yet.
///
/// With TLS 1.3, a server rejects a wrong or missing certificate only after the handshake. Its alert may be lost in the
/// reset that follows, and the failure then looks like a lost connection.
final class CurlCertificateWatch {
    private final class Entry: Sendable {
        let isAsking = Atomic(false)
    }

    /// The entries by the address of OpenSSL's context, of which libcurl creates one per connection.
    ///
    /// The address is only used as a key. libcurl releases the context of a failed connection before it reports the
    /// failure, so another connection may have the same address by then.
    private static let entries = Locked<[UInt: Entry]>([:])

    private static let setMessageCallback: ccurl_ssl_set_message_callback? =
        CurlOpenSSL.function("SSL_CTX_set_msg_callback")
    private static let context: ccurl_ssl_get_context? = CurlOpenSSL.function("SSL_get_SSL_CTX")

    /// Whether libcurl's OpenSSL has the functions that the watch calls.
    static let isPossible = setMessageCallback != nil && context != nil

    private let address: UInt
    private let entry = Entry()

    /// Watches the connection that is created with a context.
    init?(_ context: UnsafeMutableRawPointer?) {
        guard let context, let setMessageCallback = Self.setMessageCallback else { return nil }
        address = UInt(bitPattern: context)
        Self.entries.withLock { [address, entry] in $0[address] = entry }
        setMessageCallback(context) { isWritten, version, type, bytes, count, ssl, _ in
            // Only handshake messages.
            guard isWritten == 0, type == 22, count > 0, let message = bytes?.load(as: UInt8.self),
                let isAsking = CurlCertificateWatch.isAsking(after: message, version: version)
            else { return }
            let address = UInt(bitPattern: CurlCertificateWatch.context?(ssl))
            let entry = CurlCertificateWatch.entries.withLock { $0[address] }
            entry?.isAsking.store(isAsking, ordering: .relaxed)
        }
    }

    deinit {
        Self.entries.withLock { [address, entry] entries in
            if entries[address] === entry { entries[address] = nil }
        }
    }

    /// Whether the server has requested a certificate and may still reject it.
    var isAsking: Bool { entry.isAsking.load(ordering: .relaxed) }

    /// Whether the server still expects a certificate after a handshake message; nil if the message does not say.
    ///
    /// A server sends session tickets when it has verified the certificate. In TLS 1.2, it then also sends its
    /// `Finished`. In TLS 1.3, that message comes before the certificate (RFC 8446, section 2).
    static func isAsking(after message: UInt8, version: Int32) -> Bool? {
        switch message {
        case certificateRequest: true
        case newSessionTicket: false
        case finished: version < tls13 ? false : nil
        default: nil
        }
    }

    private static let newSessionTicket: UInt8 = 4
    private static let certificateRequest: UInt8 = 13
    private static let finished: UInt8 = 20
    private static let tls13: Int32 = 0x0304
}

#endif
