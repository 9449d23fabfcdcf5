// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiConnectorError {
    /// Makes an error from a session's error.
    ///
    /// M8: on Linux, many failures of libcurl have the code -1 with libcurl's text. Their meaning depends on whether a
    /// head had arrived.
    init(transport error: any Error, request: ApiRequest, hasHead: Bool) {
        let nsError = error as NSError
        let words = TransferErrors.explained(Self.sentence(nsError.localizedDescription))
        #if canImport(FoundationNetworking)
        // The new error does not contain the session's error, which may contain the proxy's password. The proxy's
        // refusal of a CONNECT also arrives as a head, so an error after a head may be the proxy's.
        if !hasHead || TransferErrors.connectStatus(inWords: words) != 0,
            let known = TransferErrors.proxyError(ofWords: words, request: request)
        {
            self = known
            return
        }
        #endif
        if nsError.domain == NSURLErrorDomain, let kind = Self.kind(ofWords: words, code: nsError.code, hasHead) {
            self.init(kind, words, request: request, underlying: error)
        } else {
            self.init(mapping: error, request: request)
        }
        let isInHandshake = words.contains("SSL_connect")
        if kind == .secureConnectionFailed || isInHandshake {
            self = advising(TransferErrors.advice(ofWords: words, at: request.url, isInHandshake: isInHandshake))
        }
    }

    private static func kind(ofWords words: String, code: Int, _ hasHead: Bool) -> Kind? {
        if statusLineWords.contains(where: { words.contains($0) }) { return .malformedResponse }
        if words.contains("Empty reply") { return .connectionLost }
        guard code == NSURLErrorUnknown else { return nil }
        if !hasHead, secureWords.contains(where: { words.contains($0) }) { return .secureConnectionFailed }
        if framingWords.contains(where: { words.contains($0) }) { return .malformedResponse }
        return !hasHead && malformedWords.contains { words.contains($0) } ? .malformedResponse : .connectionLost
    }

    /// libcurl's texts about an invalid status line, for which Foundation reports an invalid URL.
    ///
    /// HTTP/0.9 has no status line: a server with another protocol responded.
    private static let statusLineWords = [
        "HTTP/0.9", "Unsupported HTTP", "Unsupported response code", "Version mismatch", "Invalid status line",
    ]

    /// libcurl's texts about a failed handshake, which are OpenSSL's; a reset on a secure connection has other texts.
    private static let secureWords = ["SSL routines", "SSL certificate"]

    /// libcurl's texts about the framing of a body, and about a field; a field may also be a trailer.
    private static let framingWords =
        CurlLogTexts.invalidChunks + [
            "Content-Length:", "Transfer-Encoding", "Out of memory", "grew larger than allowed", "response header",
            "in header", "Header without colon",
        ]

    /// libcurl's texts about bytes that are not HTTP; "Failed writing header", or "Failure writing output" before the
    /// head, means that Foundation's own parser failed.
    private static let malformedWords = [
        "Failed writing header", "Failure writing output", "Weird server reply", "Unsupported", "header",
    ]
}
