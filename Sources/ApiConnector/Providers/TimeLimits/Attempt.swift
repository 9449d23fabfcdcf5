// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension DataRequestType {
    /// Sends a request once, and lays limits of time round it: from its request to the end of its body.
    ///
    /// The connection does this with the provider that it was given, and so does each wrapper that has limits of its own
    /// or sends more than once; the outer limits are handed over to the inner ones: ``AttemptWatch/handOver()``.
    func attempt(_ request: ApiRequest, within timeouts: Timeouts) async throws(ApiConnectorError) -> ApiResponse {
        if Task.isCancelled { throw .cancelled(request) }
        if let deadline = request.deadline, deadline <= request.timeSource.now { throw .deadlineExceeded(request) }
        guard timeouts.attempt != nil || timeouts.stall != nil || request.deadline != nil else {
            var response = try await response(for: request)
            if response.body.reader != nil { try await response.collect(for: request) }
            return response
        }
        let watch = AttemptWatch(timeouts, deadline: request.deadline, timers: request.timerQueue)
        var request = request
        request.watch = watch
        do {
            var response = try await response(for: request)
            guard let reader = response.body.reader else {
                watch.end()
                return response
            }
            if watch.isHandedOver {
                watch.end()
            } else {
                response.body = ResponseBody(source: try WatchedBody(reader, of: request, watch: watch))
            }
            try await response.collect(for: request)
            return response
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

    /// Reads the whole body where that is wanted: reading it is a part of the attempt.
    fileprivate mutating func collect(for request: ApiRequest) async throws(ApiConnectorError) {
        guard case .collected(upTo: let limit) = request.delivery else { return }
        body = ResponseBody(try await body.collect(upTo: limit))
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
