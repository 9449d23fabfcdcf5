// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A failed attempt that was followed by another attempt.
public struct AttemptSummary: Sendable, Hashable {
    /// The request as it was sent, with secrets replaced.
    ///
    /// ``RequestSummary/attempt`` is the number of the attempt.
    public let request: RequestSummary

    /// The status of the response; nil if the attempt failed without a response.
    public let status: HTTPStatus?

    /// The kind of failure; `.unacceptableStatus` if the attempt returned a response that called for a retry.
    public let kind: ApiConnectorError.Kind

    /// The failure in words, as part of a sentence and without a full stop.
    public let detail: String

    /// How long the attempt took.
    public let duration: Duration

    /// How long the call waited before the next attempt.
    public let wait: Duration

    /// The times of the attempt's phases; nil if the transport does not measure them, or was not reached.
    public let times: TransportTimes?

    init(_ request: ApiRequest, _ result: Result<ApiResponse, ApiConnectorError>, duration: Duration, wait: Duration) {
        self.request = RequestSummary(request)
        self.duration = duration
        self.wait = wait
        switch result {
        case .success(let response):
            status = response.status
            times = response.times
            kind = .unacceptableStatus
            detail = "the server answered \(response.status)"
        case .failure(let error):
            status = error.response?.status
            times = error.times
            kind = error.kind
            detail = error.detail
        }
    }
}

/// Why a failed request was not sent again.
public enum RetryStop: String, Sendable, Hashable, CaseIterable {
    /// The failure is not transient.
    case notTransient
    /// A retry could do the work twice: the method is not idempotent, and the request has no `Idempotency-Key`.
    case notIdempotent
    /// The body cannot be sent again.
    case bodyNotReplayable
    /// The rest of the stream cannot be requested; the error's ``ApiConnectorError/detail`` says why.
    case notResumable
    /// ``RetryPolicy/maximumAttemptCount`` is reached.
    case attemptLimit
    /// The next attempt would start after ``RetryPolicy/maximumDuration``.
    case durationLimit
    /// The next attempt would start after the call's deadline.
    case deadline
    /// The host's ``RetryBudget`` is used up.
    case budget
}

extension RetryStop {
    /// The end of the sentence "The request was not sent again: …"; nil if the failure itself explains it.
    var reason: String? {
        switch self {
        case .notTransient, .notResumable: nil
        case .notIdempotent: "the server might do the work twice; an Idempotency-Key would allow a retry"
        case .bodyNotReplayable: "its body cannot be sent a second time"
        case .attemptLimit: "the policy's maximum attempt count is reached"
        case .durationLimit: "the policy's maximum duration would have passed"
        case .deadline: "the call's deadline would have passed"
        case .budget: "the host's retry budget is used up"
        }
    }
}

/// The failed attempts of a request before its current attempt.
///
/// If the current attempt is the last one, the history can also contain the reason why the library does not send the
/// request again. The request carries its history.
final class AttemptHistory: Sendable {
    let attempts: [AttemptSummary]
    let stop: RetryStop?

    init(_ attempts: [AttemptSummary], stop: RetryStop? = nil) {
        self.attempts = attempts
        self.stop = stop
    }

    /// Sentences for the error's text; nil if there is nothing to report.
    var text: String? {
        var sentences: [String] = []
        if !attempts.isEmpty {
            let shown = attempts.suffix(Self.shownCount)
            let list = shown.map { "\($0.result) (waited \($0.wait.inMilliseconds()))" }
            let count = attempts.count == 1 ? "1 earlier attempt" : "\(attempts.count) earlier attempts"
            let scope = shown.count < attempts.count ? "; the last \(shown.count)" : ""
            sentences.append("\(count) failed\(scope): \(list.joined(separator: "; ")).")
        }
        if let reason = stop?.reason { sentences.append("The request was not sent again: \(reason).") }
        return sentences.isEmpty ? nil : sentences.joined(separator: " ")
    }

    private static var shownCount: Int { 5 }
}

extension AttemptSummary {
    // The status is the reason only for these two kinds. A response whose body ends early has a status, too.
    fileprivate var result: String {
        kind == .unacceptableStatus || kind == .backendFailure ? status?.description ?? kind.rawValue : kind.rawValue
    }
}

extension RequestState {
    /// The failed attempts before a request.
    struct Attempts: Sendable { fileprivate var history: AttemptHistory? }
}

extension ApiRequest {
    /// The history of attempts; nil for the first attempt.
    fileprivate(set) var history: AttemptHistory? {
        get { state.storage?.parts.attempts.history }
        set { if newValue !== history { state.change { $0.attempts.history = newValue } } }
    }

    /// The failed attempts of the call before this one, in order.
    ///
    /// Those of inner providers, earlier hops and earlier credentials count, too.
    public var earlierAttempts: [AttemptSummary] { history?.attempts ?? [] }

    /// Turns this request into the next attempt: adds the failed attempt to ``earlierAttempts`` and increments
    /// ``attempt``.
    ///
    /// The attempts of an inner retrying provider are also added.
    ///
    /// If a provider later throws an error for this request, the text of the error includes the earlier attempts.
    ///
    /// - Parameters:
    ///   - result: The result of the failed attempt: an error, or a response that calls for a retry.
    ///   - duration: How long the failed attempt took, including the earlier attempts of an inner retrying provider.
    ///   - wait: How long the call waits before the next attempt; zero by default.
    public mutating func beginNextAttempt(
        after result: Result<ApiResponse, ApiConnectorError>,
        duration: Duration,
        wait: Duration = .zero
    ) {
        let inner =
            switch result {
            case .success(let response): response.request.earlierAttempts
            case .failure(let error): error.earlierAttempts
            }
        let attempts = history(with: inner).attempts
        // The attempts of an inner provider have their own entries.
        let innerTime = attempts.dropFirst(earlierAttempts.count).reduce(Duration.zero) { $0 + $1.duration + $1.wait }
        let sent = (try? result.get().request) ?? self
        let summary = AttemptSummary(sent, result, duration: max(duration - innerTime, .zero), wait: wait)
        if let times = summary.times { report(.attemptTimed(times)) }
        history = AttemptHistory(attempts + [summary])
        attempt += 1
    }

    /// Ends the attempts of this request with the result of the last one.
    ///
    /// The response or the error then has the earlier attempts, and the reason why there is no further attempt. The
    /// text of the error includes both.
    ///
    /// - Parameters:
    ///   - result: The result of the last attempt.
    ///   - stop: Why the request is not sent again.
    /// - Returns: The response. Its status may be an error status; a call that rejects it throws an error with the same
    ///   history.
    /// - Throws: The error of `result`.
    public func endAttempts(
        with result: Result<ApiResponse, ApiConnectorError>,
        because stop: RetryStop
    ) throws(ApiConnectorError) -> ApiResponse {
        switch result {
        case .success(var response):
            response.request.history = history(with: response.request.earlierAttempts, stop)
            return response
        case .failure(let error):
            throw error.completed(request: self).following(history(with: error.earlierAttempts, stop))
        }
    }

    /// Takes over the idempotency key and the failed attempts of an earlier request of the call, such as those that an
    /// inner retrying provider has added.
    ///
    /// The server may have processed an earlier attempt with that key, for example one that timed out. The attempts
    /// tell this to outer wrappers, whose request lacks the key.
    mutating func keepKeyAndAttempts(of earlier: ApiRequest) {
        if let key = earlier.headers[.idempotencyKey] { headers[.idempotencyKey] = key }
        keepAttempts(of: earlier)
    }

    /// Takes over the failed attempts of an earlier request of the call.
    mutating func keepAttempts(of earlier: ApiRequest) {
        let attempts = earlier.earlierAttempts
        if attempts.count > earlierAttempts.count { history = AttemptHistory(attempts) }
    }

    /// Takes over the number and the failed attempts of another request of the call.
    mutating func copyAttempts(of other: ApiRequest) {
        attempt = other.attempt
        history = other.history
    }

    /// Removes the failed attempts.
    mutating func forgetAttempts() { history = nil }

    /// The history after an attempt.
    ///
    /// - Parameters:
    ///   - inner: The earlier attempts of the attempt's result. If an inner retrying provider has added attempts, this
    ///     list begins with the earlier attempts of this request.
    ///   - stop: Why there is no further attempt; nil, the default, if there is one.
    func history(with inner: [AttemptSummary], _ stop: RetryStop? = nil) -> AttemptHistory {
        AttemptHistory(inner.count > earlierAttempts.count ? inner : earlierAttempts, stop: stop)
    }
}

extension ApiConnectorError {
    /// The failed attempts before the one that failed with this error, in order.
    public var earlierAttempts: [AttemptSummary] { history?.attempts ?? [] }

    /// Why the request was not sent again.
    ///
    /// A retrying provider or a resumed stream sets this reason when it decides against another attempt. Without such a
    /// decision, it is nil.
    public var retryStop: RetryStop? { history?.stop }

    /// This error of a credential, with the failed attempts of the request that needs it.
    ///
    /// Without them, an outer provider would take the request for one that was never sent. Attempts of the error
    /// itself, such as those of a refresh, come after them.
    func afterAttempts(of request: ApiRequest) -> ApiConnectorError {
        let earlier = request.earlierAttempts
        guard !earlierAttempts.starts(with: earlier) else { return self }
        return following(AttemptHistory(earlier + earlierAttempts, stop: retryStop))
    }

    /// This error with a history of attempts.
    func following(_ history: AttemptHistory) -> ApiConnectorError {
        var error = self
        error.history = history
        return error
    }
}
