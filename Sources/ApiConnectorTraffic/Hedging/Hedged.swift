// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// A provider that sends a slow request a second time; made by ``ApiConnector/DataRequestType/hedging(_:)``.
struct Hedged<Wrapped: DataRequestType>: DataRequestType {
    private let wrapped: Wrapped
    private let policy: HedgePolicy
    private let buckets: RetryBuckets
    private let latencies = SeenLatencies()

    init(_ wrapped: Wrapped, _ policy: HedgePolicy) {
        self.wrapped = wrapped
        self.policy = policy
        buckets = RetryBuckets(policy.budget)
    }

    /// Sends the request, and a second one if the response is slow.
    ///
    /// The first good response wins.
    ///
    /// - Throws: The error of the wrapped provider; if both requests fail, the error of the first.
    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        guard request.isRepeatable, request.body.isReplayable, !request.isCredentialRefresh,
            !request.isConditionalWrite, let key = SeenLatencies.Key(request)
        else { return try await wrapped.response(for: request) }
        buckets.earn(by: request)
        let start = request.timeSource.now
        let result = await race(request, delay: delay(of: key))
        if policy.isGood(result) { latencies.add(request.timeSource.now - start, to: key) }
        return try result.get()
    }

    private func delay(of key: SeenLatencies.Key) -> Duration {
        let seen = policy.percentile.flatMap { latencies.percentile($0, of: key) }
        return max(seen ?? policy.delay, policy.minimumDelay).bounded
    }

    /// Sends one or two requests, and returns the winning response or error.
    ///
    /// Both requests have ended when the method returns: the losing request is canceled and awaited.
    private func race(_ request: ApiRequest, delay: Duration) async -> HedgeRace.Answer {
        let start = request.timeSource.now
        return await withTaskGroup(of: HedgeRace.Event.self) { group in
            var race = HedgeRace(policy, isSafe: request.method.isSafe)
            group.addTask { .answer(await wrapped.outcome(of: request), isFirst: true) }
            if start + delay < request.deadline ?? .seconds(Int64.max) {
                group.addTask {
                    try? await request.timeSource.sleep(until: start + delay)
                    return .isLate
                }
            }
            while let event = await group.next() {
                switch race.take(event) {
                case .wait:
                    break
                case .hedge:
                    guard !Task.isCancelled, buckets.take(for: request) else { continue }
                    race.isHedged = true
                    request.report(.hedged(after: delay))
                    var second = request
                    second.uploadProgress = nil
                    group.addTask { [second] in
                        .answer(await wrapped.outcome(of: second), isFirst: false)
                    }
                case .end:
                    group.cancelAll()
                }
            }
            return race.result ?? .failure(.cancelled(request))
        }
    }
}

extension ApiRequest {
    /// Whether the request writes only if the resource has a certain state.
    ///
    /// The first of two such requests changes this state.
    fileprivate var isConditionalWrite: Bool {
        let conditions: [HTTPHeaders.Name] = ["If-Match", .ifNoneMatch, "If-Unmodified-Since", "If"]
        return !method.isSafe && conditions.contains { headers.contains($0) }
    }
}

extension DataRequestType {
    /// Returns this provider, wrapped to send a second request if the first is slower than most.
    ///
    /// The call returns the first good response, and cancels the other request.
    ///
    /// Hedging shortens the longest latencies. If the wait is the 95th percentile of the latencies, it costs 5 % more
    /// requests: see Jeffrey Dean and Luiz André Barroso, The Tail at Scale, Communications of the ACM 56 (2), 2013.
    ///
    /// - Only idempotent methods and requests with an `Idempotency-Key` are hedged, and only if the body can be sent
    ///   again.
    /// - A request that writes is not hedged if it has a condition such as `If-Match`: the server would refuse the
    ///   second one with 412 after the first one has succeeded.
    /// - If one of two requests that write gets a 404, 409, 410 or 412, the call waits for the other response. The
    ///   other request may have succeeded and be the reason: of two DELETE requests, one gets a 404.
    /// - For a streamed response, the head decides.
    /// - If the first request fails before the second is sent, the call fails. To retry it, put
    ///   ``/ApiConnector/DataRequestType/retrying(_:)`` around this provider.
    /// - A request that refreshes a credential (``/ApiConnector/RefreshableCredentials``) is never hedged.
    ///
    /// The attempt and stall timeouts apply to each of the two requests. Waits use the connection's time source. A
    /// hedged call uses three tasks.
    ///
    /// - Parameter policy: When a second request is sent, and how often at most; ``HedgePolicy/standard`` by default.
    public func hedging(_ policy: HedgePolicy = .standard) -> some DataRequestType {
        Hedged(self, policy)
    }
}
