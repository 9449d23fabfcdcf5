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

/// One connection of a stream.
///
/// It is a class, because a reference is cheap to move, and the state of a stream is moved with each batch.
final class StreamAttempt: Sendable {
    /// The call's request with its observers and the earlier attempts.
    let request: ApiRequest

    /// When the response was accepted.
    let start: Duration

    /// - Parameters:
    ///   - request: The call's request before redirects and wrappers.
    ///   - sent: The request as the providers sent it.
    init(_ request: ApiRequest, sent: ApiRequest) {
        var request = request
        request.joinObservers(of: sent)
        request.copyAttempts(of: sent)
        self.request = request
        start = request.timeSource.now
    }
}

/// The point at which a stream is resumed.
struct ResumePoint: Sendable, Equatable {
    /// The `Last-Event-ID` for server-sent events; empty for none.
    var lastEventID = ""

    /// The wait that the server requests.
    var reconnectionTime: Duration?

    /// Whether any byte counts as progress, for a feed that may be quiet.
    var isOfFeed = false

    /// The position of the next record, for a format that is resumed at a byte offset; nil for any other format.
    var position: RecordPosition?
}

extension ResumePoint {
    /// The maximum length of a `Last-Event-ID`, in bytes: 4 KiB, because many servers limit the whole head to 8 KiB.
    static let maximumEventIDByteCount = 4096

    /// Why a request cannot contain the last event's ID; nil if it can.
    var eventIDObstacle: String? {
        guard lastEventID.utf8.count <= Self.maximumEventIDByteCount else {
            return "the ID of the last event is longer than \(Self.maximumEventIDByteCount) bytes"
        }
        let headers: HTTPHeaders = ["Last-Event-ID": lastEventID]
        return headers.refused.isEmpty ? nil : "the ID of the last event holds a control character"
    }
}

/// The position of a record in a body.
struct RecordPosition: Sendable, Equatable {
    /// The offset in bytes from the start of the body.
    var offset = 0

    /// The number of records before it.
    var recordCount = 0
}
