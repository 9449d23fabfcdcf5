// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The meaning of libcurl's codes, with a reason where it is not obvious.
enum TransferErrors {
    /// The kind of a code; `.other` for a code that is not in the table.
    ///
    /// - Parameter words: libcurl's error text.
    static func kind(of code: Int32, words: String) -> ApiConnectorError.Kind {
        // With TLS 1.3, a server rejects the client's certificate after the handshake, with an alert instead of data.
        if code == 55 || code == 56, words.contains(CurlLogTexts.alert) { return .secureConnectionFailed }
        // From 8.16 on, this may be the configured certificate or key.
        if code == 43, CurlLogTexts.ownCertificate.contains(where: words.contains) {
            return .secureConnectionFailed
        }
        // The server violated HTTP/2, and will do so again.
        if code == 92, words.contains(CurlLogTexts.protocolError) { return .malformedResponse }
        if code == 16 || code == 56, CurlLogTexts.refusedInput.contains(where: words.contains) {
            return .malformedResponse
        }
        // Code 56 also means a reset.
        if CurlLogTexts.invalidChunks.contains(where: words.contains) { return .malformedResponse }
        return kinds[code] ?? .other
    }

    /// libcurl's error text, with an explanation if it is misleading.
    ///
    /// Before 8.6, libcurl reports a header field longer than its limit of 100 KiB as "Out of memory". If libcurl
    /// cannot use a proxy, its text contains the proxy's password, which is removed.
    static func explained(_ words: String) -> String {
        if words.hasPrefix("Unsupported proxy"), let start = words.firstIndex(of: "'") {
            // libcurl truncates the text after 255 bytes, so the second quote may be missing.
            return words[..<start] + Redactor.replacement
        }
        if words == "A libcurl function was given a bad argument" {
            return words + "; a line without a colon in the trailers or a folded first field also causes this"
        }
        if words == "Stream error in the HTTP/2 framing layer" {
            return words + "; a response before the body was sent also causes this"
        }
        // The value of an invalid field may be a secret.
        if let value = words.range(of: CurlLogTexts.fieldValue) { return String(words[..<value.lowerBound]) }
        guard words == "Out of memory" else { return words }
        return "Out of memory; a header field of over 100 KiB also causes this"
    }

    /// The error for a code.
    ///
    /// - Parameters:
    ///   - kind: The error's kind; that of the table by default.
    ///   - words: libcurl's text about this transfer; empty for none.
    ///   - general: libcurl's text about the code.
    static func error(
        _ code: Int32,
        _ kind: ApiConnectorError.Kind? = nil,
        words: String,
        general: String,
        request: ApiRequest
    ) -> ApiConnectorError {
        let text = explained(words.isEmpty ? general : words)
        return ApiConnectorError(
            kind ?? self.kind(of: code, words: words),
            ApiConnectorError.sentence("libcurl says: \(text) (code \(code))"),
            request: request
        )
        .advising(advice(ofWords: words, at: request.url, isInHandshake: code == 35))
    }

    /// Advice on a failed handshake, from the text of libcurl or OpenSSL; nil to use the kind's advice.
    ///
    /// - Parameter isInHandshake: Whether the handshake failed, not the exchange after it.
    static func advice(ofWords words: String, at url: URL, isInHandshake: Bool) -> String? {
        if isUnknownAuthority(words) {
            return "Add the server's certificate authority to this machine's trusted certificates, or set "
                + "TransportConfiguration.certificateAuthorityFile."
        }
        guard url.scheme == HTTPScheme.https.rawValue else { return nil }
        let port = url.port ?? HTTPScheme.https.defaultPort
        // An HTTP server responds to a handshake with text.
        if ["wrong version number", "packet length too long", "http request"].contains(where: words.contains) {
            return "The request used https, but port \(port) does not use TLS: set the environment's scheme to http, "
                + "or its port to the https port."
        }
        guard isInHandshake, lossWords.contains(where: { words.contains($0) }) else { return nil }
        return "The request used https, and port \(port) hung up in the TLS handshake: if it does not use TLS, set the "
            + "environment's scheme to http."
    }

    /// The texts of a lost connection, which has the same code as all failed handshakes.
    private static let lossWords = ["SSL_ERROR_SYSCALL", "unexpected eof", "reset by peer", "Broken pipe", "lib(0)"]

    /// Advice on a request without TLS whose new connection ended before a response; nil to use the kind's advice.
    ///
    /// A server with TLS ends the connection, or responds with an alert, which libcurl takes for HTTP/0.9.
    static func adviceWithoutTLS(_ code: Int32, at url: URL) -> String? {
        guard let port = url.port, port != HTTPScheme.http.defaultPort, [1, 52, 56].contains(code) else { return nil }
        let first = code == 1 ? "The server did not respond in HTTP." : "Retry if the request is idempotent."
        return first + " If port \(port) uses TLS, set the environment's scheme from http to https."
    }

    /// Whether OpenSSL reports an authority that is not trusted; 1.1 writes "self signed".
    static func isUnknownAuthority(_ words: String) -> Bool {
        ["self-signed", "self signed", "local issuer", "unable to verify the first", "unable to get issuer"]
            .contains { words.contains($0) }
    }

    static let kinds: [Int32: ApiConnectorError.Kind] = [
        // Unsupported protocol. Only http and https are possible here, so the response uses HTTP/0.9.
        1: .malformedResponse,
        // The URL is malformed for libcurl, but not for Foundation.
        3: .invalidRequest,
        // No address for the proxy.
        5: .nameNotResolved,
        // No address for the host.
        6: .nameNotResolved,
        7: .cannotConnect,
        // The status line or a field line is invalid.
        8: .malformedResponse,
        // The HTTP/2 framing: nothing after this point on the connection can be read.
        16: .connectionLost,
        // The body ended before its Content-Length or before its last chunk.
        18: .connectionLost,
        // Out of memory: a header field is too long for libcurl.
        27: .malformedResponse,
        // A timeout. Only the connect timeout is libcurl's; ApiConnector implements all others.
        28: .cannotConnect,
        // The TLS handshake.
        35: .secureConnectionFailed,
        // A line in the head or in the trailers that is not a field.
        43: .malformedResponse,
        // The local interface cannot be used.
        45: .cannotConnect,
        // The server closed the connection without sending a byte.
        52: .connectionLost,
        53: .secureConnectionFailed,
        54: .secureConnectionFailed,
        // Sending failed: a reset.
        55: .connectionLost,
        // Receiving failed: a reset, an invalid chunk, or TLS without its closing message.
        56: .connectionLost,
        // The client's certificate or key cannot be used.
        58: .secureConnectionFailed,
        59: .secureConnectionFailed,
        // The server's certificate is not trusted, has expired, or belongs to another host.
        60: .secureConnectionFailed,
        // From 8.14 on: a transfer coding that was not requested.
        61: .malformedResponse,
        64: .secureConnectionFailed,
        // The connection broke after a part of the body was sent, and the body cannot be read again.
        65: .notReplayable,
        66: .secureConnectionFailed,
        // User and password in the URL were refused.
        67: .credentialsUnavailable,
        // The CA file cannot be read.
        77: .secureConnectionFailed,
        // TLS did not end correctly, so the body may be truncated.
        80: .connectionLost,
        82: .secureConnectionFailed,
        83: .secureConnectionFailed,
        // No connection is available now.
        89: .cannotConnect,
        // The server's public key is not one of the pinned keys.
        90: .secureConnectionFailed,
        91: .secureConnectionFailed,
        // The server ended the HTTP/2 stream.
        92: .connectionLost,
        94: .credentialsUnavailable,
        // The proxy refused.
        97: .cannotConnect,
        // The server requires a client certificate.
        98: .secureConnectionFailed,
        // Only 8.6 and later: a part of the head is too large.
        100: .malformedResponse,
    ]
}
