// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// What one call has been through, and what becomes of its next failure.
struct RetryRun {
    enum Decision: Equatable {
        case again(after: Duration)
        case stop(RetryStop)
    }

    private let policy: RetryPolicy
    private let start: Duration
    private var attemptStart: Duration
    /// How many attempts were followed by another one.
    private var failureCount = 0

    init(_ policy: RetryPolicy, start: Duration) {
        self.policy = policy
        self.start = start
        attemptStart = start
    }

    /// Whether a failure of this attempt can lead to another one, whatever it is.
    func mayRepeat(_ request: ApiRequest) -> Bool {
        request.isRepeatable && request.body.isReplayable && failureCount + 1 < policy.maximumAttemptCount
    }

    /// Decides on a failure at a time, and tells the call's observers; the host's budget is asked last.
    func decide(
        on result: Result<ApiResponse, ApiConnectorError>,
        of request: ApiRequest,
        at now: Duration,
        _ buckets: RetryBuckets
    ) -> Decision {
        let decision = decision(on: result, of: request, at: now, buckets)
        switch decision {
        case .again(let wait): request.report(.retrying(after: wait, because: result.reason))
        case .stop(let reason): if result.isWorthMentioning { request.report(.notRetrying(because: reason.rawValue)) }
        }
        return decision
    }

    private func decision(
        on result: Result<ApiResponse, ApiConnectorError>,
        of request: ApiRequest,
        at now: Duration,
        _ buckets: RetryBuckets
    ) -> Decision {
        guard policy.isTransient(result) else { return .stop(.notTransient) }
        guard request.body.isReplayable else { return .stop(.bodyNotReplayable) }
        guard request.isRepeatable || result.isBeforeSending else { return .stop(.notIdempotent) }
        guard failureCount + 1 < policy.maximumAttemptCount else { return .stop(.attemptLimit) }
        let wait = policy.delay(before: failureCount + 1, after: result, date: request.timeSource.date)
        let due = now + wait
        if let maximum = policy.maximumDuration, due - start > maximum { return .stop(.durationLimit) }
        if let deadline = request.deadline, due >= deadline { return .stop(.deadline) }
        guard buckets.take(for: request) else { return .stop(.budget) }
        return .again(after: wait)
    }

    /// Waits from the time of the decision, and makes the request the next attempt.
    mutating func wait(
        _ wait: Duration,
        from now: Duration,
        before request: inout ApiRequest,
        after result: Result<ApiResponse, ApiConnectorError>
    ) async throws(ApiConnectorError) {
        let timeSource = request.timeSource
        request.beginNextAttempt(after: result, duration: now - attemptStart, wait: wait)
        failureCount += 1
        do {
            if wait > .zero { try await timeSource.sleep(until: now + wait) }
            try Task.checkCancellation()
        } catch {
            throw .cancelled(request)
        }
        attemptStart = timeSource.now
    }
}

extension RetryPolicy {
    /// How long to wait before the next attempt; the number is that of the one that failed.
    fileprivate func delay(
        before number: Int,
        after result: Result<ApiResponse, ApiConnectorError>,
        date: Date
    ) -> Duration {
        let headers =
            switch result {
            case .success(let response): response.headers
            case .failure(let error): error.response?.headers
            }
        let asked = headers.flatMap { $0.retryAfter(now: date) }.map { min($0, maximumRetryAfter) }
        let isThrottling = (try? result.get())?.isThrottling ?? false
        let throttling = isThrottling ? throttlingDelay : nil
        return Backoff.delay(
            number,
            initial: throttling ?? initialDelay,
            maximum: max(maximumDelay, throttling ?? .zero),
            asked: asked,
            random: random()
        )
    }
}

extension Result<ApiResponse, ApiConnectorError> {
    /// The status or the kind, for an event.
    fileprivate var reason: String {
        switch self {
        case .success(let response): String(response.status.rawValue)
        case .failure(let error): error.kind.rawValue
        }
    }

    /// Whether no byte of the request was sent.
    fileprivate var isBeforeSending: Bool {
        guard case .failure(let error) = self else { return false }
        return RetryPolicy.kindsBeforeSending.contains(error.kind) || error.bytesSent == .nothing
    }

    /// Whether a reader of events wants to know why it was left at this.
    fileprivate var isWorthMentioning: Bool {
        switch self {
        case .success(let response): response.status.rawValue >= 400
        case .failure(let error): error.kind != .cancelled
        }
    }
}
