// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Opens a stream again that broke off, within a policy's limits.
struct StreamResumption<Element: Sendable>: Sendable {
    typealias Connect = @Sendable (ResumePoint) async throws(ApiConnectorError) -> OpenStream<Element>

    private let policy: ResumePolicy
    private let timeSource: any TimeSource
    private let deadline: Duration?
    /// Why a stream cannot be resumed from a point; nil where it can.
    private let obstacle: @Sendable (ResumePoint) -> String?
    private let connect: Connect
    /// How many attempts have brought no element.
    private var attemptCount = 0
    private var breakTime: Duration?
    /// When the present connection was accepted.
    private var openTime: Duration

    /// - Parameters:
    ///   - deadline: When the whole call has to be over, on the time source's scale.
    ///   - obstacle: Why the rest cannot be asked for from a point; nil, nothing, by default.
    ///   - connect: Sends the request once more.
    init(
        _ policy: ResumePolicy,
        timeSource: any TimeSource,
        deadline: Duration?,
        obstacle: @escaping @Sendable (ResumePoint) -> String? = { _ in nil },
        connect: @escaping Connect
    ) {
        self.policy = policy
        self.timeSource = timeSource
        self.deadline = deadline
        self.obstacle = obstacle
        self.connect = connect
        openTime = timeSource.now
    }

    /// Something came: what was before counts no more.
    mutating func reset() {
        attemptCount = 0
        breakTime = nil
    }

    /// The stream from a point on.
    ///
    /// - Parameter failure: Why it broke off; nil where the server ended it.
    /// - Throws: ``ApiConnectorError``: the failure, or the last attempt's, where it cannot be resumed.
    mutating func resume(
        from point: ResumePoint,
        after failure: ApiConnectorError?
    ) async throws(ApiConnectorError) -> OpenStream<Element> {
        var failure = failure
        if point.isOfFeed, timeSource.now - openTime > policy.maximumDelay { reset() }
        while true {
            if let failure, failure.isPermanent || !RetryPolicy.standardKinds.contains(failure.kind) { throw failure }
            if let obstacle = obstacle(point) {
                var failure = failure ?? .ended("the server ended the stream")
                failure.detail += "; the stream cannot be resumed: \(obstacle)"
                throw failure
            }
            try await wait(asked: point.reconnectionTime, failure)
            do throws(ApiConnectorError) {
                var stream = try await connect(point)
                openTime = timeSource.now
                if stream.canBeResumed { stream.resumption = self }
                return stream
            } catch {
                failure = error
            }
        }
    }

    private mutating func wait(asked: Duration?, _ failure: ApiConnectorError?) async throws(ApiConnectorError) {
        attemptCount += 1
        let now = timeSource.now
        let start = breakTime ?? now
        breakTime = start
        let due = now + policy.delay(before: attemptCount, asked: asked)
        let isTooLate = policy.maximumDuration.map { due - start > $0 } ?? false
        guard attemptCount <= policy.maximumAttemptCount, !isTooLate else { throw failure ?? ended }
        if let deadline, due >= deadline {
            throw ApiConnectorError(.deadlineExceeded, "the call would wait past its deadline before it resumes")
        }
        do {
            try await timeSource.sleep(until: due)
        } catch {
            throw ApiConnectorError(.cancelled, at: .response, "the call was cancelled")
        }
    }

    private var ended: ApiConnectorError {
        let count = attemptCount - 1
        let attempts = count == 1 ? "1 attempt" : "\(count) attempts"
        return .ended("the server ended the stream, and \(attempts) to resume it brought nothing")
    }
}

extension ApiConnectorError {
    fileprivate static func ended(_ detail: String) -> ApiConnectorError {
        ApiConnectorError(.connectionLost, at: .response, detail)
    }
}
