// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiRequest {
    /// The request before the library compressed its body, without the `Content-Encoding`.
    ///
    /// Texts and recordings use it, because no secret can be found in compressed bytes.
    package var uncompressed: ApiRequest {
        guard let original = body.original else { return self }
        var request = self
        request.body = original
        request.headers.remove(.contentEncoding)
        return request
    }

    /// Whether the caller has compressed the body, so that no secret can be found in its bytes.
    var hasCompressedBody: Bool { !body.isEmpty && headers.nameCompression }
}

extension HTTPHeaders {
    /// Whether a content coding compresses the body.
    ///
    /// `identity` and `aws-chunked` leave its bytes readable, and no secret can be read in encrypted bytes.
    package var nameCompression: Bool {
        guard contains(.contentEncoding) else { return false }
        return elements(.contentEncoding).contains { Self.compressions.contains($0.lowercased()) }
    }

    /// The codings of the registry for HTTP (IANA) that compress.
    private static let compressions: Set<String> = [
        "br", "compress", "dcb", "dcz", "deflate", "exi", "gzip", "pack200-gzip", "x-compress", "x-gzip", "zstd",
    ]
}
