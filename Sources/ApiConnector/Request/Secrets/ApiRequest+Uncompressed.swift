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
    /// Whether a content coding compresses the body; an unknown coding may.
    package var nameCompression: Bool {
        guard contains(.contentEncoding) else { return false }
        return elements(.contentEncoding).contains { !Self.uncompressed.contains($0.lowercased()) }
    }

    /// Codings that leave the bytes readable, that encrypt them, and a charset in the wrong field.
    private static let uncompressed: Set<String> = ["identity", "aws-chunked", "amz-1.0", "aes128gcm", "utf-8"]
}
