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
            return try await collected(response(for: request), of: request)
        }
        let watch = AttemptWatch(timeouts, deadline: request.deadline, timers: request.timerQueue)
        var request = request
        request.watch = watch
        do {
            var response = try await response(for: request)
            if let reader = response.body.reader, !watch.isHandedOver {
                response.body = ResponseBody(source: try WatchedBody(reader, of: request, watch: watch))
            } else {
                watch.end()
            }
            return try await collected(response, of: request)
        } catch {
            watch.end()
            throw error
        }
    }

    /// The response with its whole body where that is wanted: reading it is a part of the attempt.
    private func collected(
        _ response: ApiResponse,
        of request: ApiRequest
    ) async throws(ApiConnectorError) -> ApiResponse {
        guard case .collected(upTo: let limit) = request.delivery, response.body.collected == nil else {
            return response
        }
        var response = response
        response.body = ResponseBody(try await response.body.collect(upTo: limit))
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
