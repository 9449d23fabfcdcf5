// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiResponse {
    /// Collects the body of the response if the request asks for a collected body.
    ///
    /// Call it in a wrapper that handles failures, so that the wrapper also sees a failure while the body is read. The
    /// call costs nothing if the wrapped provider has already collected the body.
    ///
    /// - Parameter request: The request that the wrapper received.
    /// - Throws: ``ApiConnectorError``, as ``ResponseBody/collect(upTo:)`` does.
    @inline(__always)
    public func collectedIfWanted(by request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        guard body.reader != nil, case .collected(upTo: let limit) = request.delivery else { return self }
        var response = try watched(as: request)
        response.body = ResponseBody(try await response.body.collect(upTo: limit))
        return response
    }

    /// Ends the transfer of a streamed body without reading the rest; does nothing for a collected body.
    ///
    /// Call it in a wrapper for each response that the wrapper does not return.
    public func discardBody() { body.reader?.cancel() }
}

extension ApiResponse {
    /// Waits for the beginning of a streamed body, so that a failure before this point is thrown here.
    ///
    /// Call it in a wrapper that retries: until the caller has received a chunk, the request can still be sent again.
    /// The beginning stays in the body. If the body ends within it, its connection is released. A collected body is
    /// returned unchanged.
    ///
    /// - Parameters:
    ///   - request: The request that the wrapper sent; its time limits apply, also to the rest of the body.
    ///   - byteCount: Reads chunks until they have this number of bytes; 1 by default, which means the first chunk.
    /// - Throws: ``ApiConnectorError``: the failure of the body; of kind `.other` if the body was already read.
    public func opened(
        by request: ApiRequest,
        reading byteCount: Int = 1
    ) async throws(ApiConnectorError) -> ApiResponse {
        var response = try watched(as: request)
        guard let reader = response.body.reader else { return response }
        do {
            try reader.claim()
            var beginning = Data()
            while beginning.count < byteCount {
                guard let chunk = try await reader.next() else {
                    response.body = ResponseBody(beginning)
                    return response
                }
                if beginning.isEmpty { beginning = chunk } else { beginning.append(chunk) }
            }
            response.body = ResponseBody(source: OpenedBody(beginning, reader))
            return response
        } catch {
            throw error.completed(request: response.request, head: head)
        }
    }
}

/// A body whose beginning has already been read.
private final class OpenedBody: ResponseBodySource {
    private let beginning: Locked<Data?>
    private let reader: ResponseBodyReader

    init(_ beginning: Data, _ reader: ResponseBodyReader) {
        self.beginning = Locked(beginning)
        self.reader = reader
    }

    var isWatched: Bool { reader.isWatched }

    func next() async throws(ApiConnectorError) -> Data? {
        if let beginning = beginning.withLock({ $0.take() }) { return beginning }
        return try await reader.next()
    }

    func cancel() { reader.cancel() }
}
