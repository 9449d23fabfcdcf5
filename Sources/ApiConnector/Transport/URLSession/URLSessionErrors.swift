// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiConnectorError {
    /// A session's error by what it means.
    ///
    /// M8: on Linux many of libcurl's failures arrive as the code -1 with libcurl's own words; what they mean depends
    /// on whether a head had arrived.
    init(transport error: any Error, request: ApiRequest, hasHead: Bool) {
        let nsError = error as NSError
        let words = TransferErrors.explained(Self.sentence(nsError.localizedDescription))
        #if canImport(FoundationNetworking)
        // Without the session's error, which may quote the proxy's password. The proxy's refusal comes as a head, too.
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
        if kind == .secureConnectionFailed { self = advising(TransferErrors.advice(ofWords: words)) }
    }

    private static func kind(ofWords words: String, code: Int, _ hasHead: Bool) -> Kind? {
        if statusLineWords.contains(where: { words.contains($0) }) { return .malformedResponse }
        if words.contains("Empty reply") { return .connectionLost }
        guard code == NSURLErrorUnknown else { return nil }
        if !hasHead, secureWords.contains(where: { words.contains($0) }) { return .secureConnectionFailed }
        if framingWords.contains(where: { words.contains($0) }) { return .malformedResponse }
        return !hasHead && malformedWords.contains { words.contains($0) } ? .malformedResponse : .connectionLost
    }

    /// What libcurl says of a status line that is not one; Foundation then calls the URL wrong.
    ///
    /// HTTP/0.9 has no status line: a server of another protocol answered.
    private static let statusLineWords = ["HTTP/0.9", "Unsupported HTTP version", "Unsupported response code"]

    /// What libcurl says of a handshake that failed, in OpenSSL's words; a reset on a secure connection has others.
    private static let secureWords = ["SSL routines", "SSL certificate problem"]

    /// What libcurl says of a body whose length cannot be known, and of a field that is too long.
    private static let framingWords = ["chunked-encoding", "Content-Length:", "Out of memory"]

    /// What libcurl says of bytes that are no HTTP; "Failed writing header" is Foundation's own parser that gave up.
    private static let malformedWords = ["Failed writing header", "Weird server reply", "Unsupported", "header"]
}
