// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Sends a request again whose failure may pass; made by ``DataRequestType/retrying(_:)``.
struct Retrying<Wrapped: DataRequestType>: DataRequestType {
    private let wrapped: Wrapped
    private let policy: RetryPolicy
    private let buckets: RetryBuckets

    init(_ wrapped: Wrapped, _ policy: RetryPolicy) {
        self.wrapped = wrapped
        self.policy = policy
        buckets = RetryBuckets(policy.budget)
    }

    /// Sends a request until it succeeds, fails in a way that stays, or the policy ends it.
    ///
    /// - Returns: The last response, a status of failure included; what came before it is in its request's
    ///   ``ApiRequest/earlierAttempts``.
    /// - Throws: ``ApiConnectorError``: the last failure, with its ``ApiConnectorError/earlierAttempts``; of kind
    ///   `.cancelled`, and at once, when the task is canceled.
    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        // A token may be good for one refresh only, and calls wait for its answer.
        if request.isCredentialRefresh { return try await wrapped.response(for: request) }
        if let resumption = request.values.resumption {
            resumption.share(buckets)
            // The stream counts its attempts itself.
            if resumption.isResuming { return try await wrapped.response(for: request) }
        }
        var request = request
        request.prepareForRetries(policy)
        buckets.earn(by: request)
        var run = RetryRun(policy, buckets, start: request.timeSource.now)
        while true {
            request.report(.attemptStarted)
            let result = await attempt(request, opening: run.mayRepeat(request))
            if case .success(let response) = result, response.status.isSuccess { return response }
            let now = request.timeSource.now
            switch run.decide(on: result, of: request, at: now) {
            case .stop(let reason):
                return try request.last(result, reason)
            case .again(let wait):
                // What it was refused with would stay open until the next attempt.
                result.discardBody()
                try await run.wait(wait, from: now, before: &request, after: result)
            }
        }
    }

    /// One attempt; where it may be repeated, a stream is a part of it up to its first chunk.
    private func attempt(
        _ request: ApiRequest,
        opening isOpening: Bool
    ) async -> Result<ApiResponse, ApiConnectorError> {
        do throws(ApiConnectorError) {
            var response = try await wrapped.response(for: request)
                .limitedInTime(as: request).collectedIfWanted(by: request)
            if isOpening, !policy.isTransient(response) { try await response.open() }
            return .success(response)
        } catch {
            return .failure(error)
        }
    }
}

extension DataRequestType {
    /// This provider, sending a request again whose failure may pass.
    ///
    /// Sent again is only what may be repeated: an idempotent method, a request with an `Idempotency-Key`, or a failure
    /// before any byte was sent; never a body that cannot be sent again, and never a stream that has delivered its
    /// first chunk, which is therefore awaited here. Between attempts it waits a random part of a time that doubles,
    /// and at least as long as the server's `Retry-After`, but never past the call's deadline: then the last failure is
    /// final at once. Each host has a budget of retries, shared by all copies of this provider. A request that belongs
    /// to the refresh of a credential (``RefreshableCredentials``) is sent once, and so is one that resumes a stream
    /// (``StreamFormat/resuming(_:)``): the stream's policy decides on the next one, within this provider's budget.
    ///
    /// The limits of an attempt and of silence hold for each attempt, the connection's too. Time is the connection's.
    ///
    /// - Parameter policy: When and how often; ``RetryPolicy/standard`` by default.
    public func retrying(_ policy: RetryPolicy = .standard) -> some DataRequestType {
        Retrying(self, policy)
    }
}

extension ApiRequest {
    /// What all attempts share: one call, one key.
    fileprivate mutating func prepareForRetries(_ policy: RetryPolicy) {
        beginCall()
        guard let makeKey = policy.idempotencyKey, !isRepeatable, body.isReplayable else { return }
        headers[.idempotencyKey] = makeKey()
    }

    /// The last result, with what came before it and why nothing comes after it.
    ///
    /// A retry further in has added its attempts to the same list.
    fileprivate func last(
        _ result: Result<ApiResponse, ApiConnectorError>,
        _ stop: RetryStop
    ) throws(ApiConnectorError) -> ApiResponse {
        func history(_ inner: [AttemptSummary]) -> AttemptHistory {
            AttemptHistory(inner.count > earlierAttempts.count ? inner : earlierAttempts, stop: stop)
        }
        switch result {
        case .success(var response):
            response.request.history = history(response.request.earlierAttempts)
            return response
        case .failure(let error):
            throw error.completed(request: self).following(history(error.earlierAttempts))
        }
    }
}

extension ApiResponse {
    /// Waits for the first chunk of a streamed body, so that a failure before it is one of this attempt.
    fileprivate mutating func open() async throws(ApiConnectorError) {
        guard let reader = body.reader else { return }
        do {
            try reader.claim()
            if let first = try await reader.next() {
                body = ResponseBody(source: OpenedBody(first, reader))
            } else {
                body = ResponseBody(Data())
            }
        } catch {
            throw error.completed(request: request, head: head)
        }
    }
}

/// A body whose first chunk was read already.
private final class OpenedBody: ResponseBodySource {
    private let first: Locked<Data?>
    private let reader: ResponseBodyReader

    init(_ first: Data, _ reader: ResponseBodyReader) {
        self.first = Locked(first)
        self.reader = reader
    }

    var isLimitedInTime: Bool { reader.isLimitedInTime }

    func next() async throws(ApiConnectorError) -> Data? {
        if let first = first.withLock({ $0.take() }) { return first }
        return try await reader.next()
    }

    func cancel() { reader.cancel() }
}
