// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Resumes a broken stream with the policy, the back-off and the budget of a retry.
struct StreamResumption<Element: Sendable>: Sendable {
    /// Requests the rest of a stream from a point on.
    ///
    /// `next` is the failed request, counted as the next attempt.
    typealias Connect =
        @Sendable (_ point: ResumePoint, _ next: ApiRequest) async throws(ApiConnectorError) -> OpenStream<Element>

    private let policy: RetryPolicy
    /// Why a stream cannot be resumed from a point; nil if it can.
    private let obstacle: @Sendable (ResumePoint) -> String?
    private let connect: Connect
    private var run: RetryRun
    private var attempt: StreamAttempt

    /// - Parameters:
    ///   - attempt: The stream's first connection.
    ///   - mark: The state that the stream's requests share with the retrying providers.
    ///   - obstacle: Why the rest cannot be requested from a point; returns nil by default.
    ///   - connect: Sends the request again.
    init(
        _ policy: RetryPolicy,
        after attempt: StreamAttempt,
        _ mark: StreamMark,
        obstacle: @escaping @Sendable (ResumePoint) -> String? = { _ in nil },
        connect: @escaping Connect
    ) {
        self.policy = policy
        self.attempt = attempt
        self.obstacle = obstacle
        self.connect = connect
        let tokens = mark.tokens ?? policy.tokens ?? RetryBuckets(policy.budget)
        run = RetryRun(policy, tokens, openedAt: attempt.start)
    }

    /// Resets all counts, because the stream has made progress.
    mutating func reset() {
        run.reset()
    }

    /// Resumes the stream at a point.
    ///
    /// - Parameters:
    ///   - failure: The error of the break; nil if the server ended the stream.
    ///   - completing: Completes the other errors of the broken connection with request, head and time.
    /// - Throws: ``ApiConnectorError``: the last failure, with the earlier attempts.
    mutating func resume(
        from point: ResumePoint,
        after failure: ApiConnectorError?,
        _ completing: @Sendable (ApiConnectorError) -> ApiConnectorError
    ) async throws(ApiConnectorError) -> OpenStream<Element> {
        var failure = failure
        var request = attempt.request
        if point.isOfFeed, request.timeSource.now - attempt.start > policy.maximumDelay { run.reset() }
        if !run.isFailing { request.forgetAttempts() }
        while true {
            var error = failure ?? completing(.streamEnded)
            let result = Result<ApiResponse, ApiConnectorError>.failure(error)
            if failure == nil || policy.isTransient(result), let obstacle = obstacle(point) {
                error.detail += "; the stream cannot be resumed: \(obstacle)"
                run.report(.notResumable, of: result, to: request)
                throw error.following(request.history(with: error.earlierAttempts, .notResumable))
            }
            let now = request.timeSource.now
            let decision = await run.decide(
                on: result,
                of: request,
                at: now,
                isEnd: failure == nil,
                asked: point.reconnectionTime
            )
            switch decision {
            case .stop(let reason):
                throw error.following(request.history(with: error.earlierAttempts, reason))
            case .again(let wait):
                // The next attempt starts without the attempts before the stream's last progress. An error that stops
                // the stream may still have them.
                let last = Result<ApiResponse, ApiConnectorError>.failure(error.following(AttemptHistory([])))
                do throws(ApiConnectorError) {
                    try await run.beginNextAttempt(of: &request, after: last, waiting: wait, from: now)
                } catch {
                    throw completing(error)
                }
            }
            do throws(ApiConnectorError) {
                var stream = try await connect(point, request)
                attempt = stream.attempt ?? attempt
                if stream.canBeResumed { stream.resumption = self }
                return stream
            } catch {
                failure = error
            }
        }
    }
}

extension ApiConnectorError {
    fileprivate static var streamEnded: ApiConnectorError {
        ApiConnectorError(.connectionLost, at: .response, "the server ended the stream")
    }
}
