// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Retries requests after transient failures; made by ``DataRequestType/retrying(_:)``.
struct Retrying<Wrapped: DataRequestType>: DataRequestType {
    private let wrapped: Wrapped
    private let policy: RetryPolicy
    private let tokens: any RetryTokenSource

    init(_ wrapped: Wrapped, _ policy: RetryPolicy) {
        self.wrapped = wrapped
        self.policy = policy
        tokens = policy.tokens ?? RetryBuckets(policy.budget)
    }

    /// Sends a request until it succeeds, fails permanently, or the policy stops the retries.
    ///
    /// - Returns: The last response, which may have an error status. The earlier attempts are in
    ///   ``ApiRequest/earlierAttempts`` of its request.
    /// - Throws: ``ApiConnectorError``: the last failure, with its ``ApiConnectorError/earlierAttempts``; of kind
    ///   `.cancelled` immediately after the task was canceled.
    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        // A refresh token may be valid only once, and calls are waiting for the result.
        if request.isCredentialRefresh { return try await wrapped.response(for: request) }
        request.shareRetryTokens(tokens)
        // The stream counts its attempts itself.
        if request.isResumption { return try await wrapped.response(for: request) }
        var request = request
        prepare(&request)
        tokens.earn(by: request)
        var run = RetryRun(policy, tokens, start: request.timeSource.now)
        while true {
            request.report(.attemptStarted)
            let result = await attempt(request, opening: run.mayRepeatAfterSending(request))
            if case .success(let response) = result, response.status.isSuccess { return response }
            let now = request.timeSource.now
            switch await run.decide(on: result, of: request, at: now) {
            case .stop(let reason):
                return try request.endAttempts(with: result, because: reason)
            case .again(let wait):
                // Otherwise the rejected response would stay open until the next attempt.
                result.discardBody()
                try await run.beginNextAttempt(of: &request, after: result, waiting: wait, from: now)
            }
        }
    }

    /// Prepares what all attempts share: the call's ID and the idempotency key.
    private func prepare(_ request: inout ApiRequest) {
        request.beginCall()
        guard let makeKey = policy.idempotencyKey, !request.isRepeatable, request.body.isReplayable else { return }
        request.headers[.idempotencyKey] = makeKey()
    }

    /// Sends one attempt.
    ///
    /// If another attempt can follow, this attempt includes the first chunk of a streamed body.
    private func attempt(
        _ request: ApiRequest,
        opening isOpening: Bool
    ) async -> Result<ApiResponse, ApiConnectorError> {
        do throws(ApiConnectorError) {
            let response = try await wrapped.response(for: request).collectedIfWanted(by: request)
            guard isOpening, !policy.isTransient(response) else { return .success(response) }
            return .success(try await response.opened(by: request))
        } catch {
            return .failure(error)
        }
    }
}

extension DataRequestType {
    /// Returns a provider that retries requests after transient failures.
    ///
    /// ## Which requests are retried
    ///
    /// - requests with an idempotent method
    /// - requests with an `Idempotency-Key`
    /// - any request that failed before a byte was sent. This must also hold for each attempt of an inner retrying
    ///   provider.
    ///
    /// Never retried are:
    ///
    /// - a request whose body cannot be sent again
    /// - a stream after its first chunk; this provider waits for the first chunk
    /// - a request of a credential refresh (``RefreshableCredentials``)
    /// - a request that resumes a stream (``StreamFormat/resuming(_:)``); the stream's policy decides about the next
    ///   one, within this provider's budget
    ///
    /// ## Delays and limits
    ///
    /// The wait between attempts is a random part of a delay that doubles. It is at least the server's `Retry-After`.
    /// If the wait would pass the call's deadline, the call fails immediately with the last failure.
    ///
    /// Each host has a retry budget, which all copies of this provider share. The attempt timeout and the stall timeout
    /// start again with each attempt, even if the connection sets them. The time source is the connection's.
    ///
    /// - Parameter policy: When and how often to retry; ``RetryPolicy/standard`` by default.
    public func retrying(_ policy: RetryPolicy = .standard) -> some DataRequestType {
        Retrying(self, policy)
    }
}
