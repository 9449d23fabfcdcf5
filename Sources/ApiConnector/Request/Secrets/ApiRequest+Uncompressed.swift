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

    /// Whether the body has a content coding, so that no secret can be found in its bytes.
    var hasCodedBody: Bool { !body.isEmpty && headers.hasContentCoding }
}

extension HTTPHeaders {
    /// Whether there is a content coding other than `identity`.
    package var hasContentCoding: Bool {
        contains(.contentEncoding) && elements(.contentEncoding).contains { $0.lowercased() != "identity" }
    }
}
