// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Counts the failed attempts of one call or stream, and decides what follows the next failure.
struct RetryRun {
    enum Decision: Equatable {
        case again(after: Duration)
        case stop(RetryStop)
    }

    private let policy: RetryPolicy
    private let tokens: any RetryTokenSource
    /// Whether the attempts are connections of a stream.
    ///
    /// Observers have then already received the end of each attempt.
    private let isOfStream: Bool
    /// When a call's first attempt began, or when a stream broke off; nil for a stream that has not failed since its
    /// last success.
    private var start: Duration?
    private var attemptStart: Duration
    /// The number of waits since the last successful attempt.
    private var waitCount = 0
    private var hasSucceeded = false

    /// Starts with the first attempt of a call.
    init(_ policy: RetryPolicy, _ tokens: any RetryTokenSource, start: Duration) {
        self.policy = policy
        self.tokens = tokens
        self.start = start
        attemptStart = start
        isOfStream = false
    }

    /// Starts with the first connection of a stream.
    init(_ policy: RetryPolicy, _ tokens: any RetryTokenSource, openedAt time: Duration) {
        self.policy = policy
        self.tokens = tokens
        attemptStart = time
        isOfStream = true
    }

    /// Whether no attempt has succeeded yet, or an attempt has failed since the last successful one.
    var isFailing: Bool { waitCount > 0 || !hasSucceeded }

    /// Resets all counts after a successful attempt.
    mutating func reset() {
        start = nil
        waitCount = 0
        hasSucceeded = true
    }

    /// Whether another attempt can follow a failure after the request was sent.
    ///
    /// A failure before that, which any request may repeat, happens before a chunk arrives.
    func mayRepeatAfterSending(_ request: ApiRequest) -> Bool {
        request.isRepeatable && request.body.isReplayable && waitCount + 1 < policy.maximumAttemptCount
    }

    /// Decides what follows a failure, and reports the decision to the call's observers.
    ///
    /// - Parameters:
    ///   - isEnd: Whether the server ended an endless stream, which is not a failure.
    ///   - asked: The wait that the server requests with the `retry` of an event; nil for none. If there is also a
    ///     `Retry-After`, the longer wait applies.
    func decide(
        on result: Result<ApiResponse, ApiConnectorError>,
        of request: ApiRequest,
        at now: Duration,
        isEnd: Bool = false,
        asked: Duration? = nil
    ) async -> Decision {
        let decision = await unreportedDecision(on: result, of: request, at: now, isEnd, asked)
        switch decision {
        case .again(let wait):
            request.report(.retrying(after: wait, because: result.reason), afterEnd: isOfStream)
        case .stop(let reason):
            report(reason, of: result, to: request)
        }
        return decision
    }

    /// Reports to the request's observers why there is no further attempt.
    func report(_ stop: RetryStop, of result: Result<ApiResponse, ApiConnectorError>, to request: ApiRequest) {
        if result.isWorthMentioning { request.report(.notRetrying(because: stop.rawValue), afterEnd: isOfStream) }
    }

    private func unreportedDecision(
        on result: Result<ApiResponse, ApiConnectorError>,
        of request: ApiRequest,
        at now: Duration,
        _ isEnd: Bool,
        _ asked: Duration?
    ) async -> Decision {
        guard isEnd || policy.isTransient(result) else { return .stop(.notTransient) }
        guard request.body.isReplayable else { return .stop(.bodyNotReplayable) }
        guard request.isRepeatable || result.isBeforeSending(request) else { return .stop(.notIdempotent) }
        let failedCount = hasSucceeded ? waitCount : waitCount + 1
        guard failedCount < policy.maximumAttemptCount else { return .stop(.attemptLimit) }
        let wait = policy.delay(before: waitCount + 1, after: result, asked: asked, date: request.timeSource.date)
        let due = now + wait
        if let maximum = policy.maximumDuration, due - (start ?? now) > maximum { return .stop(.durationLimit) }
        if let deadline = request.deadline, due >= deadline { return .stop(.deadline) }
        // A stream that continues after an element repeats no work, so it takes no token.
        if failedCount > 0, await !tokens.take(for: request) { return .stop(.budget) }
        return .again(after: wait)
    }

    /// Turns the request into the next attempt, and waits, starting from the time of the decision.
    mutating func beginNextAttempt(
        of request: inout ApiRequest,
        after result: Result<ApiResponse, ApiConnectorError>,
        waiting wait: Duration,
        from now: Duration
    ) async throws(ApiConnectorError) {
        let timeSource = request.timeSource
        request.beginNextAttempt(after: result, duration: now - attemptStart, wait: wait)
        start = start ?? now
        waitCount += 1
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
    /// The delay before the next attempt.
    ///
    /// - Parameter number: The number of the wait, counted from 1.
    fileprivate func delay(
        before number: Int,
        after result: Result<ApiResponse, ApiConnectorError>,
        asked: Duration?,
        date: Date
    ) -> Duration {
        let times = [result.headers?.retryAfter(now: date), asked].compactMap { $0 }
        let throttling = result.isThrottling ? throttlingDelay : nil
        return Backoff.delay(
            number,
            initial: throttling ?? initialDelay,
            maximum: max(maximumDelay, throttling ?? .zero),
            asked: times.max().map { min($0, maximumRetryAfter) },
            random: random()
        )
    }
}

extension Result<ApiResponse, ApiConnectorError> {
    private var status: HTTPStatus? {
        switch self {
        case .success(let response): response.status
        case .failure(let error): error.response?.status
        }
    }

    fileprivate var headers: HTTPHeaders? {
        switch self {
        case .success(let response): response.headers
        case .failure(let error): error.response?.headers
        }
    }

    /// Whether the server throttles the client.
    fileprivate var isThrottling: Bool {
        status == 429 || (status == 403 || status == 503) && headers?.contains(.retryAfter) == true
    }

    /// The status or the kind, for an event.
    fileprivate var reason: String {
        switch self {
        case .success(let response): String(response.status.rawValue)
        case .failure(let error):
            (error.kind == .unacceptableStatus ? status : nil).map { String($0.rawValue) } ?? error.kind.rawValue
        }
    }

    /// Whether no byte of the request was sent, in any attempt.
    ///
    /// An inner retrying provider may have sent it in an earlier attempt, with an idempotency key that this request
    /// lacks. Only the kinds of those attempts are known.
    fileprivate func isBeforeSending(_ request: ApiRequest) -> Bool {
        guard case .failure(let error) = self else { return false }
        let kinds = RetryPolicy.kindsBeforeSending
        guard kinds.contains(error.kind) || error.bytesSent == .nothing else { return false }
        return error.earlierAttempts.dropFirst(request.earlierAttempts.count).allSatisfy { kinds.contains($0.kind) }
    }

    /// Whether the reason for the missing retry is reported to observers.
    fileprivate var isWorthMentioning: Bool {
        switch self {
        case .success(let response): response.status.rawValue >= 400
        case .failure(let error): error.kind != .cancelled
        }
    }
}
