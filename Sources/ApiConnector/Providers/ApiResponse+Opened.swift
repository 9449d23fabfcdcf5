// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiResponse {
    /// Waits for the first chunk of a streamed body, so that a failure before this chunk is thrown here.
    ///
    /// Call it in a wrapper that retries: until the caller has received a chunk, the request can still be sent again.
    /// The first chunk stays in the body. A collected body is returned unchanged.
    ///
    /// - Parameter request: The request that the wrapper sent; its time limits apply, also to the rest of the body.
    /// - Throws: ``ApiConnectorError``: the failure of the body; of kind `.other` if the body was already read.
    public func opened(by request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        var response = try watched(as: request)
        guard let reader = response.body.reader else { return response }
        do {
            try reader.claim()
            if let first = try await reader.next() {
                response.body = ResponseBody(source: OpenedBody(first, reader))
            } else {
                response.body = ResponseBody(Data())
            }
            return response
        } catch {
            throw error.completed(request: response.request, head: head)
        }
    }
}

/// A body whose first chunk has already been read.
private final class OpenedBody: ResponseBodySource {
    private let first: Locked<Data?>
    private let reader: ResponseBodyReader

    init(_ first: Data, _ reader: ResponseBodyReader) {
        self.first = Locked(first)
        self.reader = reader
    }

    var isWatched: Bool { reader.isWatched }

    func next() async throws(ApiConnectorError) -> Data? {
        if let first = first.withLock({ $0.take() }) { return first }
        return try await reader.next()
    }

    func cancel() { reader.cancel() }
}
