// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiRequest {
    /// The same request with a streamed body read into memory.
    ///
    /// R2: on Linux, a session treats a body stream as ended the first time that it has no data, and sends a truncated
    /// body.
    ///
    /// The time limits apply while the source is read. A source that ignores its cancellation is left behind.
    func collectingBody(upTo maximumByteCount: Int) async throws(ApiConnectorError) -> ApiRequest {
        guard body.isStreamed else { return self }
        var request = self
        do {
            let data = try await leavingBehind(limitsAttempt: true, appliesStall: true) { [self] in
                try await body.collect(upTo: maximumByteCount) { reportProgress() }
            }
            request.body = .data(data, mediaType: body.mediaType ?? .octetStream)
        } catch {
            guard error.kind == .bodyTooLarge else { throw error.completed(request: self) }
            throw ApiConnectorError(
                .bodyTooLarge,
                at: .request,
                "the request's body is streamed and longer than \(maximumByteCount) bytes, which is the most that "
                    + "URLSession accepts; use SystemProvider on Linux, which streams it",
                request: self
            )
        }
        return request
    }
}
