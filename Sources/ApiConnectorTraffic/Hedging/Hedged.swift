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

    /// Sends the request, and a second time where the answer takes long; the first good answer wins.
    ///
    /// - Throws: What the wrapped provider throws; what the first request failed with where both did.
    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        guard request.isRepeatable, request.body.isReplayable, !request.isCredentialRefresh,
            let key = SeenLatencies.Key(request)
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

    /// Both requests are over when it returns: the one that was not needed is canceled, and awaited.
    private func race(_ request: ApiRequest, delay: Duration) async -> HedgeRace.Answer {
        let start = request.timeSource.now
        return await withTaskGroup(of: HedgeRace.Event.self) { group in
            var race = HedgeRace()
            group.addTask { .answer(await wrapped.outcome(of: request), isFirst: true) }
            if start + delay < request.deadline ?? .seconds(Int64.max) {
                group.addTask {
                    try? await request.timeSource.sleep(until: start + delay)
                    return .isLate
                }
            }
            while let event = await group.next() {
                switch race.take(event, policy) {
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

extension DataRequestType {
    /// This provider, sending a request a second time where the first takes longer than most; the first good answer is
    /// delivered and the other request canceled.
    ///
    /// As in Jeffrey Dean and Luiz André Barroso, The Tail at Scale, Communications of the ACM 56 (2), 2013: waiting for the
    /// 95th percentile costs a twentieth more requests and shortens the longest waits. Only where doing it twice is doing it
    /// once: an idempotent method or a request with an `Idempotency-Key`, and never a body that cannot be sent again. A
    /// streamed response is decided on by its head. A failure that comes before the second request is sent is final: that is
    /// for ``/ApiConnector/DataRequestType/retrying(_:)``, which belongs round it. A request that belongs to the refresh of a
    /// credential (``/ApiConnector/RefreshableCredentials``) is sent once.
    ///
    /// The limits of an attempt and of silence hold for each of the two. Time is the connection's. Such a call costs
    /// three tasks.
    ///
    /// - Parameter policy: When, and how often at most; ``HedgePolicy/standard`` by default.
    public func hedging(_ policy: HedgePolicy = .standard) -> some DataRequestType {
        Hedged(self, policy)
    }
}
