// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

/// Which requests are sent again, when, and why retrying stops.
@Suite(.timeLimit(.minutes(10))) struct RetryTableTests {}

extension RetryTableTests {
    private static let oneShot = RequestBody.stream(isReplayable: false) { AsyncStream<Data> { $0.finish() } }

    private static let first: Duration = .milliseconds(250)
    private static let three: [Duration] = [first, .milliseconds(500), .seconds(1)]

    static let transientStatuses: [RetryCase] = [408, 425, 429, 500, 502, 503, 504].map {
        RetryCase("\($0) is transient", answers: [.status($0), .fine], waits: [first], end: .status(200))
    }

    static let finalStatuses: [RetryCase] = [200, 204, 302, 400, 401, 403, 404, 409, 422, 501, 505].map {
        RetryCase("\($0) is final", answers: [.status($0), .fine], end: .status($0))
    }

    static let transientKinds: [RetryCase] = [
        ApiConnectorError.Kind.nameNotResolved, .cannotConnect, .connectionLost, .timedOut, .stalled,
    ].map { RetryCase("\($0) is transient", answers: [.failing($0), .fine], waits: [first], end: .status(200)) }

    static let finalKinds: [RetryCase] = [
        ApiConnectorError.Kind.secureConnectionFailed, .malformedResponse, .credentialsUnavailable, .circuitOpen,
        .notCached,
        .deadlineExceeded, .cancelled, .bodyTooLarge, .notReplayable, .encodingFailed, .unmatched, .other,
    ].map { RetryCase("\($0) is final", answers: [.failing($0), .fine], end: .failure($0), stop: .notTransient) }

    static let methods: [RetryCase] = [
        RetryCase(
            "403 with Retry-After is throttling",
            answers: [.retryAfter("2", status: 403), .fine],
            waits: [.seconds(2) + first],
            end: .status(200)
        ),
        RetryCase("HEAD", .head, answers: [.status(503), .fine], waits: [first], end: .status(200)),
        RetryCase("PUT", .put, answers: [.status(503), .fine], waits: [first], end: .status(200)),
        RetryCase("DELETE", .delete, answers: [.status(503), .fine], waits: [first], end: .status(200)),
        RetryCase("POST", .post, answers: [.status(503), .fine], end: .status(503), stop: .notIdempotent),
        RetryCase("PATCH", .patch, answers: [.status(429), .fine], end: .status(429), stop: .notIdempotent),
        RetryCase(
            "an unknown method",
            "PUBLISH",
            answers: [.failing(.connectionLost), .fine],
            end: .failure(.connectionLost),
            stop: .notIdempotent
        ),
        RetryCase(
            "POST that the server asks to repeat",
            .post,
            answers: [.retryAfter("1"), .fine],
            end: .status(503),
            stop: .notIdempotent
        ),
        RetryCase(
            "POST with a key",
            .post,
            headers: ["idempotency-key": "k1"],
            answers: [.failing(.connectionLost), .status(503), .fine],
            waits: [first, .milliseconds(500)],
            end: .status(200)
        ),
        RetryCase(
            "POST with an empty key",
            .post,
            headers: ["Idempotency-Key": ""],
            answers: [.failing(.connectionLost), .fine],
            end: .failure(.connectionLost),
            stop: .notIdempotent
        ),
        RetryCase(
            "POST before any byte was sent",
            .post,
            answers: [.failing(.cannotConnect), .failing(.nameNotResolved), .fine],
            waits: [first, .milliseconds(500)],
            end: .status(200)
        ),
        RetryCase(
            "POST before any byte was sent, and then after",
            .post,
            answers: [.failing(.cannotConnect), .failing(.connectionLost), .fine],
            waits: [first],
            end: .failure(.connectionLost),
            stop: .notIdempotent
        ),
        RetryCase(
            "a body that comes once",
            .put,
            body: oneShot,
            answers: [.status(503), .fine],
            end: .status(503),
            stop: .bodyNotReplayable
        ),
        RetryCase(
            "a body that comes once, before any byte was sent",
            .post,
            body: oneShot,
            answers: [.failing(.cannotConnect), .fine],
            end: .failure(.cannotConnect),
            stop: .bodyNotReplayable
        ),
    ]

    static let waits: [RetryCase] = [
        RetryCase(
            "the limit of attempts",
            answers: [.status(503)],
            waits: three,
            end: .status(503),
            stop: .attemptLimit
        ),
        RetryCase(
            "one attempt",
            policy: .halfWay { $0.maximumAttemptCount = 1 },
            answers: [.status(503)],
            end: .status(503),
            stop: .attemptLimit
        ),
        RetryCase(
            "the longest wait",
            policy: .halfWay {
                $0.maximumAttemptCount = 6
                $0.maximumDelay = .seconds(1)
            },
            answers: [.failing(.stalled)],
            waits: [first, .milliseconds(500), .milliseconds(500), .milliseconds(500), .milliseconds(500)],
            end: .failure(.stalled),
            stop: .attemptLimit
        ),
        RetryCase(
            "as long as the server asks, and a little",
            answers: [.retryAfter("7", status: 429), .fine],
            waits: [.milliseconds(7250)],
            end: .status(200)
        ),
        RetryCase(
            "until the date that the server names",
            answers: [.retryAfter("Thu, 01 Jan 2026 00:00:30 GMT"), .fine],
            waits: [.milliseconds(30_250)],
            end: .status(200)
        ),
        RetryCase(
            "a date that has passed",
            answers: [.retryAfter("Thu, 01 Jan 2020 00:00:30 GMT"), .fine],
            waits: [first],
            end: .status(200)
        ),
        RetryCase("not a time", answers: [.retryAfter("soon"), .fine], waits: [first], end: .status(200)),
        RetryCase(
            "longer than the cap",
            answers: [.retryAfter("99999999999999999999"), .fine],
            waits: [.milliseconds(60_250)],
            end: .status(200)
        ),
        RetryCase(
            "a date after the cap",
            policy: .halfWay { $0.maximumRetryAfter = .seconds(5) },
            answers: [.retryAfter("Fri, 02 Jan 2026 00:00:00 GMT"), .fine],
            waits: [.milliseconds(5250)],
            end: .status(200)
        ),
        RetryCase(
            "the policy's limit of time",
            policy: .halfWay { $0.maximumDuration = .seconds(10) },
            answers: [.retryAfter("8")],
            waits: [.milliseconds(8250)],
            end: .status(503),
            stop: .durationLimit
        ),
        RetryCase(
            "no wait past the deadline",
            timeouts: Timeouts(attempt: nil, stall: Timeouts.noLimit, overall: .seconds(20)),
            answers: [.retryAfter("20"), .fine],
            end: .status(503),
            stop: .deadline
        ),
        RetryCase(
            "an empty budget",
            policy: .halfWay { $0.budget = RetryBudget(burstCount: 2, share: 0, countPerSecond: 0) },
            answers: [.status(503)],
            waits: [first, .milliseconds(500)],
            end: .status(503),
            stop: .budget
        ),
    ]

    static let all =
        transientStatuses + finalStatuses + transientKinds + finalKinds + methods + waits + retryAfterTexts + scenarios
        + throttling

    @Test(arguments: all)
    func decides(_ row: RetryCase) async throws {
        let clock = ManualClock()
        let sent = EventLog<Int>()
        let provider = TestConnector { request in
            sent.note(request.attempt)
            return row.answers[min(request.attempt, row.answers.count) - 1]
        }.retrying(row.policy)
        var request = ApiRequest(
            url: try #require(URL(string: "http://api.example.com/posts")),
            method: row.method,
            headers: row.headers,
            body: row.body
        )
        request.timeSource = clock
        if let overall = row.timeouts.overall { request.deadline = overall }
        let (result, waits) = try await clock.moving(for: row.waits.contains) { [request] in
            await provider.result(for: request)
        }

        #expect(waits == row.waits)
        #expect(sent.events == Array(1...row.waits.count + 1))
        let earlier: [AttemptSummary]
        switch result {
        case .success(let response):
            #expect(row.end == .status(response.status))
            earlier = response.request.earlierAttempts
        case .failure(let error):
            #expect(row.end == .failure(error.kind))
            #expect(error.retryStop == row.stop)
            earlier = error.earlierAttempts
        }
        #expect(earlier.map(\.wait) == row.waits)
        #expect(earlier.map(\.request.attempt) == Array(1..<row.waits.count + 1))
    }

    /// The same table through a connection, whose error or value reports the same attempts.
    @Test(arguments: all)
    func reportsTheDecisionToTheCaller(_ row: RetryCase) async throws {
        let clock = ManualClock()
        let provider = TestConnector { request in row.answers[min(request.attempt, row.answers.count) - 1] }
        let api = NetworkConnector(
            environment: .test,
            provider: provider.retrying(row.policy),
            router: Router.self,
            configuration: ConnectionConfiguration(
                headers: row.headers,
                validation: .status(200..<300),
                timeouts: row.timeouts,
                redirects: .never,
                timeSource: clock
            )
        )
        let url = try #require(URL(string: "http://mytestserver.com/posts"))
        let (result, _) = try await clock.moving(for: row.waits.contains) {
            await Result { () async throws(ApiConnectorError) in
                try await api.data(at: url, method: row.method, body: row.body)
            }
        }
        switch (row.end, result) {
        case (.status(let status), .success): #expect(status.isSuccess)
        case (.status(let status), .failure(let error)):
            #expect(error.response?.status == status)
            #expect(error.earlierAttempts.map(\.wait) == row.waits)
            if !row.waits.isEmpty || row.stop != nil { #expect(error.retryStop == row.stop) }
        case (.failure(let kind), .failure(let error)):
            #expect(error.kind == kind)
            #expect(error.earlierAttempts.map(\.wait) == row.waits)
            #expect(error.retryStop == row.stop)
        case (.failure, .success): Issue.record("it should have failed")
        }
    }
}

extension DataRequestType {
    /// The provider's response or error, as a value.
    func result(for request: ApiRequest) async -> Result<ApiResponse, ApiConnectorError> {
        await Result { () async throws(ApiConnectorError) in try await response(for: request) }
    }
}

extension Result where Failure == ApiConnectorError {
    /// Keeps what a closure returns or throws.
    init(_ body: () async throws(ApiConnectorError) -> Success) async {
        do {
            self = .success(try await body())
        } catch {
            self = .failure(error)
        }
    }
}
