// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Sends one request through the providers, within the limits of time that hold for an attempt.
struct AttemptStage: Sendable {
    let provider: any DataRequestType
    let timeouts: Timeouts
    let timers: TimerQueue

    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        if Task.isCancelled { throw .cancelled(request) }
        if let deadline = request.deadline, deadline <= timers.timeSource.now { throw .deadlineExceeded(request) }
        guard timeouts.attempt != nil || timeouts.stall != nil || request.deadline != nil else {
            return try await collected(provider.response(for: request), of: request)
        }
        let watch = AttemptWatch(timeouts, deadline: request.deadline, timers: timers)
        var request = request
        request.watch = watch
        do {
            var response = try await provider.response(for: request)
            if let reader = response.body.reader {
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
