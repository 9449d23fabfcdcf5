// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension DataRequestType {
    /// Sends a request once, and lays limits of time round it: from its request to the end of its body.
    ///
    /// The connection does this with the provider that it was given, and so does each wrapper that has limits of its
    /// own or sends more than once; the outer limits are handed over to the inner ones: ``AttemptWatch/handOver()``.
    func attempt(_ request: ApiRequest, within timeouts: Timeouts) async throws(ApiConnectorError) -> ApiResponse {
        var request = request
        return try await attempt(&request, within: timeouts)
    }

    /// The same with a request that is watched without a copy of it.
    @inline(__always)
    func attempt(
        _ request: inout ApiRequest,
        within timeouts: Timeouts
    ) async throws(ApiConnectorError) -> ApiResponse {
        if Task.isCancelled { throw .cancelled(request) }
        if let deadline = request.deadline, deadline <= request.timeSource.now { throw .deadlineExceeded(request) }
        guard timeouts.attempt != nil || timeouts.stall != nil || request.deadline != nil else {
            let response = try await response(for: request)
            return response.body.reader == nil ? response : try await response.collected(for: request)
        }
        let watch = AttemptWatch(timeouts, deadline: request.deadline, timers: request.timerQueue)
        let outer = request.watch
        request.watch = watch
        defer { request.watch = outer }
        do {
            let response = try await response(for: request)
            if response.body.reader == nil {
                watch.end()
                return response
            }
            return try await response.watched(by: watch, for: request)
        } catch {
            watch.end()
            throw error
        }
    }
}

extension DataRequestType {
    /// The same for whoever decides on a failure.
    func outcome(
        of request: ApiRequest,
        within timeouts: Timeouts
    ) async -> Result<ApiResponse, ApiConnectorError> {
        do throws(ApiConnectorError) {
            return .success(try await attempt(request, within: timeouts))
        } catch {
            return .failure(error)
        }
    }
}

extension Result<ApiResponse, ApiConnectorError> {
    /// Ends the transfer of a streamed body that nobody will read.
    func letGo() {
        if case .success(let response) = self { response.letGo() }
    }
}

extension ApiResponse {
    /// Ends the transfer of a streamed body that nobody will read.
    func letGo() { body.reader?.cancel() }

    /// A streamed response within the limits of its attempt.
    fileprivate func watched(
        by watch: AttemptWatch,
        for request: ApiRequest
    ) async throws(ApiConnectorError) -> ApiResponse {
        var response = self
        if let reader = body.reader, !watch.isHandedOver {
            response.body = ResponseBody(source: try WatchedBody(reader, of: request, watch: watch))
        } else {
            watch.end()
        }
        return try await response.collected(for: request)
    }

    /// A streamed response with its whole body where that is wanted: reading it is a part of the attempt.
    fileprivate func collected(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        guard case .collected(upTo: let limit) = request.delivery else { return self }
        var response = self
        response.body = ResponseBody(try await body.collect(upTo: limit))
        return response
    }
}

extension ApiRequest {
    /// The limits that whoever lays them round its own attempts takes over; none where there are none.
    func handedOverTimeouts() throws(ApiConnectorError) -> Timeouts {
        guard let watch else { return .unlimited }
        do {
            return try watch.handOver()
        } catch {
            throw error.completed(request: self)
        }
    }
}
