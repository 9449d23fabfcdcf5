// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiRequest {
    /// Runs a transport's code within this request's ``timeouts`` and ``deadline``, until the end of the response's
    /// body.
    ///
    /// A transport does all its work in this function:
    ///
    /// ```swift
    /// func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
    ///     try await request.withTimeLimits { (request) throws(ApiConnectorError) in try await exchange(request) }
    /// }
    /// ```
    ///
    /// When a limit is reached, it ends a wait in ``withStopHandler(_:readPending:onStop:)`` or
    /// ``ApiConnectorError/mapping(_:_:)``. Nested calls for the same request have no further effect.
    ///
    /// - Parameter send: Sends the request in its parameter, once. That request knows its limits: use it for every wait
    ///   and for ``reportProgress()``.
    /// - Returns: The response of `send`. Its body is collected if ``delivery`` says so; the time limits also apply to
    ///   a streamed body.
    /// - Throws: The error of `send`, or ``ApiConnectorError`` of kind `.cancelled` or `.deadlineExceeded` if the call
    ///   has already ended. Collecting a body can fail as in ``ResponseBody/collect(upTo:)``.
    public func withTimeLimits(
        _ send: (ApiRequest) async throws(ApiConnectorError) -> ApiResponse
    ) async throws(ApiConnectorError) -> ApiResponse {
        try await withTimeLimitsInlined(send)
    }

    /// The same function, inlined, because each asynchronous call allocates task memory.
    @inline(__always)
    func withTimeLimitsInlined(
        _ send: (ApiRequest) async throws(ApiConnectorError) -> ApiResponse
    ) async throws(ApiConnectorError) -> ApiResponse {
        try checkNotOver()
        if watch?.watches(self) == true { return try await send(self) }
        guard let watch = newWatch() else { return try await send(self).collectedIfWanted(by: self) }
        var request = self
        request.watch = watch
        do {
            var response = try await send(request)
            response.request.watch = nil
            guard let reader = response.body.reader else {
                watch.end()
                return response
            }
            response.body = ResponseBody(source: try WatchedBody(reader, of: request, watch: watch))
            return try await response.collectedIfWanted(by: self)
        } catch {
            watch.end()
            throw error
        }
    }
}

extension ApiResponse {
    /// The response with the request's time limits for a streamed body, unless the transport has already applied
    /// limits.
    @inline(__always)
    consuming func watched(as sent: ApiRequest) throws(ApiConnectorError) -> ApiResponse {
        guard let reader = body.reader, !reader.isWatched, let watch = sent.newWatch() else { return self }
        var response = self
        response.body = ResponseBody(source: try WatchedBody(reader, of: response.request, watch: watch))
        return response
    }
}
