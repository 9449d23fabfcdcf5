// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import CCurl

/// Watches a TLS connection for the message that ends it, `close_notify`.
///
/// A body without a length ends when the server closes the connection. Without `close_notify`, an attacker or a crash
/// may have truncated it. libcurl does not distinguish an end with `close_notify` from one without it. From 7.87 on,
/// its own BIO hides the end of the socket from OpenSSL. Before 7.87, libcurl with OpenSSL 1.1 ignores the end. So this
/// watch makes OpenSSL report the alerts that it reads.
final class CurlCloseWatch {
    private struct Entry {
        let id: ObjectIdentifier
        var isNotified = false
    }

    /// The entries by the address of OpenSSL's connection.
    ///
    /// The address is only used as a key, so an entry may outlive its connection.
    private static let entries = Locked<[UInt: Entry]>([:])

    private let ssl: UInt

    /// Watches the connection of a transfer; nil if the connection does not use libcurl's OpenSSL.
    init?(_ easy: CurlEasy) {
        guard let setInfoCallback = CurlOpenSSL.setInfoCallback, let ssl = CurlOpenSSL.connection(of: easy) else {
            return nil
        }
        self.ssl = UInt(bitPattern: ssl)
        let entry = Entry(id: ObjectIdentifier(self))
        Self.entries.withLock { [address = self.ssl] in $0[address] = entry }
        setInfoCallback(ssl) { ssl, event, alert in
            guard let ssl, event == Int32(CCURL_SSL_CB_READ_ALERT), alert & 0xFF == 0 else { return }
            CurlCloseWatch.entries.withLock { $0[UInt(bitPattern: ssl)]?.isNotified = true }
        }
    }

    deinit {
        let id = ObjectIdentifier(self)
        Self.entries.withLock { [ssl] entries in
            if entries[ssl]?.id == id { entries[ssl] = nil }
        }
    }

    /// Whether the server has sent `close_notify`.
    var isNotified: Bool { Self.entries.withLock { [ssl] in $0[ssl]?.isNotified ?? false } }
}

extension CurlCloseWatch {
    /// Watches a transfer whose body, according to its head, ends with the connection; nil for all others.
    ///
    /// - Parameter head: The status line and the field lines.
    static func watch(_ easy: CurlEasy, for transfer: CurlTransfer, head: [UInt8]) -> CurlCloseWatch? {
        guard transfer.block.isSecure, transfer.request.method != .head else { return nil }
        guard easy.byteCount(CCURLINFO_CONTENT_LENGTH_DOWNLOAD_T) == nil, endsWithConnection(head) else { return nil }
        return CurlCloseWatch(easy)
    }

    /// Whether the body of a response without a length ends with the connection (RFC 9112, section 6.3).
    static func endsWithConnection(_ head: [UInt8]) -> Bool {
        guard head.starts(with: "HTTP/1".utf8), let status = CurlHeadBuffer.status(of: head) else { return false }
        guard status != 204, status != 304 else { return false }
        return !head.split(separator: UInt8(ascii: "\n")).contains(where: isChunked)
    }

    private static func isChunked(_ line: ArraySlice<UInt8>) -> Bool {
        let name = "transfer-encoding:".utf8
        guard line.count > name.count, zip(line, name).allSatisfy({ $0 | 0x20 == $1 | 0x20 }) else { return false }
        return String(decoding: line, as: UTF8.self).lowercased().contains("chunked")
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

#endif
