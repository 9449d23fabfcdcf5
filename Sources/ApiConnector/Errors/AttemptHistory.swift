// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// What came before a request, and why nothing came after it: on the way with the request.
final class AttemptHistory: Sendable {
    let attempts: [AttemptSummary]
    let stop: RetryStop?

    init(_ attempts: [AttemptSummary], stop: RetryStop? = nil) {
        self.attempts = attempts
        self.stop = stop
    }

    /// Sentences for an error's text; nil where there is nothing to say.
    var text: String? {
        var sentences: [String] = []
        if !attempts.isEmpty {
            let shown = attempts.suffix(Self.shownCount)
            let list = shown.map { attempt in
                let result = attempt.status?.description ?? attempt.kind.rawValue
                return "\(result) (waited \(attempt.wait.inMilliseconds()))"
            }
            let count = attempts.count == 1 ? "1 earlier attempt" : "\(attempts.count) earlier attempts"
            let scope = shown.count < attempts.count ? "; the last \(shown.count)" : ""
            sentences.append("\(count) failed\(scope): \(list.joined(separator: "; ")).")
        }
        if let reason = stop?.reason { sentences.append("It was not sent again: \(reason).") }
        return sentences.isEmpty ? nil : sentences.joined(separator: " ")
    }

    private static var shownCount: Int { 5 }
}

extension ApiRequest {
    /// The attempts that came before this one and failed, the first one first; empty where nothing was sent again.
    public var earlierAttempts: [AttemptSummary] { history?.attempts ?? [] }

    /// Makes this request the next attempt: adds the one that failed to ``earlierAttempts``, and counts ``attempt``.
    ///
    /// An error that a provider throws for this request shows what came before.
    ///
    /// - Parameters:
    ///   - result: What the failed attempt came to: an error, or a response that is not good enough.
    ///   - duration: How long it took.
    ///   - wait: How long the next attempt waits; not at all by default.
    public mutating func beginNextAttempt(
        after result: Result<ApiResponse, ApiConnectorError>,
        duration: Duration,
        wait: Duration = .zero
    ) {
        let sent = (try? result.get().request) ?? self
        let summary = AttemptSummary(sent, result, duration: duration, wait: wait)
        if let times = summary.times { report(.attemptTimed(times)) }
        history = AttemptHistory(earlierAttempts + [summary])
        attempt += 1
    }
}

extension ApiConnectorError {
    /// The attempts that came before the one that failed with this error, the first one first.
    public var earlierAttempts: [AttemptSummary] { history?.attempts ?? [] }

    /// Why the request was not sent again; nil if neither a retrying provider nor a resumed stream was asked.
    public var retryStop: RetryStop? { history?.stop }

    /// This error with what came before it.
    func following(_ history: AttemptHistory) -> ApiConnectorError {
        var error = self
        error.history = history
        return error
    }
}
