// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)

/// What a provider's bodies are decoded with, and within which limits.
struct BodyDecompression: Sendable {
    let libraries: DecodingLibraries
    let limit: ExpansionLimit
    /// What requests ask for; nil for no coding.
    let acceptEncoding: String?

    /// - Returns: Nil where bodies are delivered as they came.
    init?(_ decompression: CurlConfiguration.Decompression, _ libraries: DecodingLibraries) {
        guard case .limited(let ratio, let byteCount) = decompression else { return nil }
        self.libraries = libraries
        limit = ExpansionLimit(maximumRatio: ratio, maximumByteCount: byteCount)
        let names = libraries.codings.map(\.name)
        acceptEncoding = names.isEmpty ? nil : names.joined(separator: ", ")
    }

    /// Why a body is refused before it comes; nil where it is not.
    func refusal(of head: CurlResponseHead, to request: ApiRequest) -> String? {
        if request.method == .head || head.status.forbidsBody { return nil }
        return ContentCoding.refusal(of: head.headers)
    }
}

#endif
