// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// What libcurl's codes mean: one row a code, each with its reason where that is not plain.
enum TransferErrors {
    /// The kind of a code; `.other` for one that is not in the table.
    ///
    /// - Parameter words: What libcurl said.
    static func kind(of code: Int32, words: String) -> ApiConnectorError.Kind {
        // With TLS 1.3 a server refuses the client's certificate after the handshake, by an alert in place of data.
        if code == 55 || code == 56, words.contains("alert") { return .secureConnectionFailed }
        // What the server sent over HTTP/2 breaks its rules, and will the next time.
        if code == 92, words.contains("PROTOCOL_ERROR") { return .malformedResponse }
        if code == 56, words.contains("nghttp2_session_mem_recv") { return .malformedResponse }
        // Code 56 is for a reset, too.
        if words.contains("chunked-encoding") { return .malformedResponse }
        return kinds[code] ?? .other
    }

    /// Libcurl's words, explained where they mislead.
    ///
    /// A field of the head that is longer than libcurl's 100 KiB is told as "Out of memory" before 8.6. A proxy that
    /// libcurl cannot use is quoted with its password, which is left out.
    static func explained(_ words: String) -> String {
        if words.hasPrefix("Unsupported proxy"), let start = words.firstIndex(of: "'") {
            // The words are cut after 255 bytes, so that the second quote may be missing.
            return words[..<start] + Redactor.replacement
        }
        if words == "A libcurl function was given a bad argument" {
            return words + "; a line without a colon in the trailers or a folded first field also causes this"
        }
        if words == "Stream error in the HTTP/2 framing layer" {
            return words + "; a response before the body was sent also causes this"
        }
        guard words == "Out of memory" else { return words }
        return "Out of memory; a header field of over 100 KiB also causes this"
    }

    /// The error for a code.
    ///
    /// - Parameters:
    ///   - words: What libcurl said about this transfer; empty for nothing.
    ///   - general: What libcurl says about the code.
    static func error(
        _ code: Int32,
        words: String,
        general: String,
        request: ApiRequest
    ) -> ApiConnectorError {
        let text = explained(words.isEmpty ? general : words)
        return ApiConnectorError(
            kind(of: code, words: words),
            ApiConnectorError.sentence("libcurl says: \(text) (code \(code))"),
            request: request
        )
        .advising(advice(ofWords: words))
    }

    /// What to do about a handshake that failed, in OpenSSL's words; nil for what the kind advises.
    static func advice(ofWords words: String) -> String? {
        if isUnknownAuthority(words) {
            return "Add the server's certificate authority to this machine's trusted certificates, or set "
                + "TransportConfiguration.certificateAuthorityFile."
        }
        // An HTTP server answers a handshake with text.
        guard ["wrong version number", "packet length too long", "http request"].contains(where: words.contains) else {
            return nil
        }
        return "The port does not use TLS: set the environment's scheme to http, or its port to the https port."
    }

    /// Whether OpenSSL says that the authority is not among those that are trusted; 1.1 writes "self signed".
    static func isUnknownAuthority(_ words: String) -> Bool {
        ["self-signed", "self signed", "local issuer", "unable to verify the first", "unable to get issuer"]
            .contains { words.contains($0) }
    }

    static let kinds: [Int32: ApiConnectorError.Kind] = [
        // Unsupported protocol. Only http and https get here, so it is an answer in HTTP/0.9.
        1: .malformedResponse,
        // The URL is malformed for libcurl although it is one for Foundation.
        3: .invalidRequest,
        // No address for the proxy.
        5: .nameNotResolved,
        // No address for the host.
        6: .nameNotResolved,
        7: .cannotConnect,
        // The status line or a field line cannot be read.
        8: .malformedResponse,
        // The framing of HTTP/2: nothing behind it on the connection can be read.
        16: .connectionLost,
        // The body ended before its Content-Length or before its last chunk.
        18: .connectionLost,
        // Out of memory: a field of the head is too long for libcurl.
        27: .malformedResponse,
        // A time-out. Only the one for connecting is libcurl's, all others are the library's own.
        28: .cannotConnect,
        // The TLS handshake.
        35: .secureConnectionFailed,
        // A line of the head or of the trailers that is not a field.
        43: .malformedResponse,
        // The local interface cannot be used.
        45: .cannotConnect,
        // The server closed without a byte.
        52: .connectionLost,
        53: .secureConnectionFailed,
        54: .secureConnectionFailed,
        // Sending failed: a reset.
        55: .connectionLost,
        // Receiving failed: a reset, a bad chunk, TLS that ended without its closing message.
        56: .connectionLost,
        // The client's certificate or key cannot be used.
        58: .secureConnectionFailed,
        59: .secureConnectionFailed,
        // The server's certificate is unknown, expired or another host's.
        60: .secureConnectionFailed,
        64: .secureConnectionFailed,
        // The connection broke when some of the body was sent, and its source cannot begin again.
        65: .notReplayable,
        66: .secureConnectionFailed,
        // User and password in the URL were refused.
        67: .credentialsUnavailable,
        // The CA file cannot be read.
        77: .secureConnectionFailed,
        // TLS did not end as it should, so the end of the body is in doubt.
        80: .connectionLost,
        82: .secureConnectionFailed,
        83: .secureConnectionFailed,
        // No connection may be made now.
        89: .cannotConnect,
        // The server's public key is not one of the pinned keys.
        90: .secureConnectionFailed,
        91: .secureConnectionFailed,
        // The server ended the HTTP/2 stream.
        92: .connectionLost,
        94: .credentialsUnavailable,
        // The proxy refused.
        97: .cannotConnect,
        // The server wants a client certificate.
        98: .secureConnectionFailed,
        // Only 8.6 and later: something in the head is too large.
        100: .malformedResponse,
    ]
}
