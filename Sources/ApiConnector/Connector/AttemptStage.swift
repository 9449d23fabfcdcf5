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
        defer { watch.end() }
        var request = request
        request.watch = watch
        return try await collected(provider.response(for: request), of: request)
    }

    /// The response with its whole body where that is wanted: reading it is a part of the attempt.
    private func collected(
        _ response: ApiResponse,
        of request: ApiRequest
    ) async throws(ApiConnectorError) -> ApiResponse {
        guard case .collected(upTo: let limit) = request.delivery, response.body.collected == nil else {
            return response
        }
        let body = response.body
        let stopped = StopReason()
        let result = await request.withStopHandler { () async -> Result<Data, ApiConnectorError> in
            do throws(ApiConnectorError) {
                return .success(try await body.collect(upTo: limit) { request.reportProgress() })
            } catch {
                return .failure(stopped.error ?? error)
            }
        } onStop: {
            stopped.error = $0
            body.cancel()
        }
        var response = response
        response.body = ResponseBody(try result.get())
        return response
    }
}

/// Why a body was not read to its end.
private final class StopReason: Sendable {
    private let first = Locked<ApiConnectorError?>(nil)

    /// The first reason that was set.
    var error: ApiConnectorError? {
        get { first.withLock { $0 } }
        set { first.withLock { $0 = $0 ?? newValue } }
    }
}
