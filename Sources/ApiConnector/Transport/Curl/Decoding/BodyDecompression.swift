// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)

/// The libraries and the limits for decoding a provider's bodies.
struct BodyDecompression: Sendable {
    let libraries: DecodingLibraries
    let limit: ExpansionLimit
    /// The `Accept-Encoding` of requests; nil for no coding.
    let acceptEncoding: String?

    /// - Returns: Nil if bodies are delivered unchanged.
    init?(_ decompression: CurlConfiguration.Decompression, _ libraries: DecodingLibraries) {
        guard case .limited(let ratio, let byteCount) = decompression else { return nil }
        self.libraries = libraries
        limit = ExpansionLimit(maximumRatio: ratio, maximumByteCount: byteCount)
        let names = libraries.codings.map(\.name)
        acceptEncoding = names.isEmpty ? nil : names.joined(separator: ", ")
    }
}

#endif
