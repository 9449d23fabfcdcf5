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
