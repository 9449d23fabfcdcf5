// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiRequest {
    /// Runs a transport's code within this request's ``timeouts`` and ``deadline``, up to the end of the response's body.
    ///
    /// A transport does all its work in it:
    ///
    /// ```swift
    /// func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
    ///     try await request.withTimeLimits { (request) throws(ApiConnectorError) in try await exchange(request) }
    /// }
    /// ```
    ///
    /// The limits end the waits that can be ended: ``withStopHandler(_:readPending:onStop:)`` and
    /// ``ApiConnectorError/mapping(_:_:)``. Within another call of this function, for the same request, it adds nothing.
    ///
    /// - Parameter send: Sends the request that it is given, once. That request knows its limits: use it for every wait
    ///   and for ``reportProgress()``.
    /// - Returns: The response that `send` returned. Its body is collected if ``delivery`` says so; the time of a streamed
    ///   body is limited.
    /// - Throws: What `send` throws, and ``ApiConnectorError`` of kind `.cancelled` or `.deadlineExceeded` if that is so
    ///   before it starts. A body that is collected can fail as ``ResponseBody/collect(upTo:)`` says.
    public func withTimeLimits(
        _ send: (ApiRequest) async throws(ApiConnectorError) -> ApiResponse
    ) async throws(ApiConnectorError) -> ApiResponse {
        try await limitingTime(send)
    }

    /// The same, inlined: an asynchronous call takes memory of the task.
    @inline(__always)
    func limitingTime(
        _ send: (ApiRequest) async throws(ApiConnectorError) -> ApiResponse
    ) async throws(ApiConnectorError) -> ApiResponse {
        try checkTime()
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
    /// The response with its whole body, if a request wants the body collected.
    ///
    /// A wrapper that decides on failures calls it, so that a failure while the body is read counts too. It costs nothing
    /// if the provider inside has collected the body.
    ///
    /// - Parameter request: The request that the wrapper was given.
    /// - Throws: ``ApiConnectorError``, as ``ResponseBody/collect(upTo:)``.
    @inline(__always)
    public func collectedIfWanted(by request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        guard body.reader != nil, case .collected(upTo: let limit) = request.delivery else { return self }
        var response = try limitedInTime(as: request)
        response.body = ResponseBody(try await response.body.collect(upTo: limit))
        return response
    }

    /// The response with a request's limits on the time of its streamed body, if the transport has not set limits.
    @inline(__always)
    func limitedInTime(as sent: ApiRequest) throws(ApiConnectorError) -> ApiResponse {
        guard let reader = body.reader, !reader.isLimitedInTime, let watch = sent.newWatch() else { return self }
        var response = self
        response.body = ResponseBody(source: try WatchedBody(reader, of: request, watch: watch))
        return response
    }

    /// Ends the transfer of a streamed body that nobody will read; nothing for a body that is all there.
    ///
    /// A wrapper calls it for a response that it does not hand on.
    public func discardBody() { body.reader?.cancel() }
}

extension DataRequestType {
    /// Sends a request, and returns its response or its error.
    ///
    /// A wrapper that decides on failures calls it. The response is collected if the request wants that, so that a failure while
    /// the body is read counts too.
    public func outcome(of request: ApiRequest) async -> Result<ApiResponse, ApiConnectorError> {
        do throws(ApiConnectorError) {
            return .success(try await response(for: request).collectedIfWanted(by: request))
        } catch {
            return .failure(error)
        }
    }
}

extension Result<ApiResponse, ApiConnectorError> {
    /// Ends the transfer of a streamed body that nobody will read; nothing for an error.
    public func discardBody() {
        if case .success(let response) = self { response.discardBody() }
    }
}
