// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// Sends a request again that failed for a reason that may pass.
struct SimpleRetry<Wrapped: DataRequestType>: DataRequestType {
    let wrapped: Wrapped
    var maximumAttemptCount = 3

    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        var request = request
        while true {
            let start = request.timeSource.now
            let result = await wrapped.outcome(of: request)
            guard isWorthRepeating(result, of: request) else { return try result.get() }
            result.discardBody()
            let asked = try? result.get().headers.retryAfter(now: request.timeSource.date)
            let wait = asked ?? .seconds(request.attempt)
            let now = request.timeSource.now
            if let deadline = request.deadline, now + wait >= deadline { return try result.get() }
            request.report(.retrying(after: wait, because: "a failure that may pass"))
            request.beginNextAttempt(after: result, duration: now - start, wait: wait)
            do {
                try await request.timeSource.sleep(until: now + wait)
            } catch {
                throw ApiConnectorError(.cancelled, "the call was canceled", request: request)
            }
        }
    }

    private func isWorthRepeating(
        _ result: Result<ApiResponse, ApiConnectorError>,
        of request: ApiRequest
    ) -> Bool {
        guard request.attempt < maximumAttemptCount, request.body.isReplayable else { return false }
        switch result {
        case .success(let response):
            return request.isRepeatable && RetryPolicy.standardStatuses.contains(response.status)
        case .failure(let error):
            return RetryPolicy.kindsBeforeSending.contains(error.kind)
                || request.isRepeatable && RetryPolicy.standardKinds.contains(error.kind)
        }
    }
}
