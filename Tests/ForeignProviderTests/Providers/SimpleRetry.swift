// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// Sends a request again that failed for a reason that may pass.
struct SimpleRetry<Wrapped: DataRequestType>: DataRequestType {
    let wrapped: Wrapped
    var maximumAttemptCount = 3
    var tokens: any RetryTokenSource = RetryBuckets(.unlimited)

    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        request.shareRetryTokens(tokens)
        // Calls wait for a refresh, and a stream counts its attempts itself.
        if request.isCredentialRefresh || request.isResumption { return try await wrapped.response(for: request) }
        tokens.earn(by: request)
        var request = request
        while true {
            let start = request.timeSource.now
            let result = await attempt(request)
            guard isFailure(result) else { return try result.get() }
            let asked = try? result.get().headers.retryAfter(now: request.timeSource.date)
            let wait = asked ?? .seconds(request.attempt)
            let now = request.timeSource.now
            if let stop = await stop(before: now + wait, of: request, after: result) {
                request.report(.notRetrying(because: stop.rawValue))
                return try request.endAttempts(with: result, because: stop)
            }
            result.discardBody()
            request.report(.retrying(after: wait, because: "a failure that may pass"))
            request.beginNextAttempt(after: result, duration: now - start, wait: wait)
            do {
                try await request.timeSource.sleep(until: now + wait)
            } catch {
                throw ApiConnectorError(.cancelled, "the call was canceled", request: request)
            }
        }
    }

    /// One attempt, which ends with the first chunk of a streamed body.
    private func attempt(_ request: ApiRequest) async -> Result<ApiResponse, ApiConnectorError> {
        let result = await wrapped.outcome(of: request)
        guard case .success(let response) = result, !isFailure(result) else { return result }
        do throws(ApiConnectorError) {
            return .success(try await response.opened(by: request))
        } catch {
            return .failure(error)
        }
    }

    private func isFailure(_ result: Result<ApiResponse, ApiConnectorError>) -> Bool {
        switch result {
        case .success(let response): RetryPolicy.standardStatuses.contains(response.status)
        case .failure(let error): error.kind != .cancelled
        }
    }

    /// Why a failed request is not sent again; nil if it is.
    private func stop(
        before time: Duration,
        of request: ApiRequest,
        after result: Result<ApiResponse, ApiConnectorError>
    ) async -> RetryStop? {
        var isUnsent = false
        if case .failure(let error) = result {
            isUnsent = RetryPolicy.kindsBeforeSending.contains(error.kind) || error.bytesSent == .nothing
            guard !error.isPermanent, RetryPolicy.standardKinds.contains(error.kind) else { return .notTransient }
        }
        guard request.body.isReplayable else { return .bodyNotReplayable }
        guard request.isRepeatable || isUnsent else { return .notIdempotent }
        guard request.attempt < maximumAttemptCount else { return .attemptLimit }
        if let deadline = request.deadline, time >= deadline { return .deadline }
        return await tokens.take(for: request) ? nil : .budget
    }
}
