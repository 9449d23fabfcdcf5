// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting

/// The scenarios that urllib3's `Retry`, undici's `RetryAgent` and OkHttp are tested with, by this library's rules.
extension RetryTableTests {
    private static let first: Duration = .milliseconds(250)
    private static let three: [Duration] = [first, .milliseconds(500), .seconds(1)]

    private static func asked(_ text: String, _ wait: Duration = first) -> RetryCase {
        RetryCase("Retry-After: \"\(text)\"", answers: [.retryAfter(text), .fine], waits: [wait], end: .status(200))
    }

    private static func repeated(
        _ name: String,
        _ method: HTTPMethod,
        headers: HTTPHeaders = [:],
        body: RequestBody = .empty,
        after answer: TestConnectorResponse
    ) -> RetryCase {
        RetryCase(
            name,
            method,
            headers: headers,
            body: body,
            answers: [answer, .fine],
            waits: [first],
            end: .status(200)
        )
    }

    /// RFC 9110, section 10.2.3: seconds or a date; anything else is as if it were not there.
    static let retryAfterTexts: [RetryCase] = [
        asked("0"), asked("3", .milliseconds(3250)), asked(" 3 ", .milliseconds(3250)),
        asked("003", .milliseconds(3250)),
        asked("-5"), asked("+5"), asked("1.5"), asked("1e1"), asked("5s"), asked("5, 9"), asked("5; q=1"),
        asked("\"5\""),
        asked(""), asked("٥"), asked("0x5"),
        asked("Thu, 01 Jan 2026 00:00:30 GMT", .milliseconds(30_250)),
        asked("Thursday, 01-Jan-26 00:00:30 GMT", .milliseconds(30_250)),
        asked("Thu Jan  1 00:00:30 2026", .milliseconds(30_250)),
        asked("Thu, 01 Jan 2026 00:00:00 GMT"), asked("Wed, 31 Dec 2025 23:59:59 GMT"),
        asked("Thu, 01 Jan 2026 00:00:30 +0100"), asked("Thu, 01-Jan-2026 00:00:30 GMT"), asked("2026-01-01T00:00:30Z"),
    ]

    static let scenarios: [RetryCase] = [
        repeated("OPTIONS", .options, after: .status(503)),
        repeated("TRACE", .trace, after: .status(503)),
        repeated("DELETE whose connection is lost", .delete, after: .failing(.connectionLost)),
        repeated("PUT with a body", .put, body: .text("tea"), after: .status(502)),
        repeated("PATCH with a key", .patch, headers: ["Idempotency-Key": "k"], after: .status(500)),
        repeated(
            "PUT with a body that can be made again",
            .put,
            body: .stream { AsyncStream<Data> { $0.finish() } },
            after: .failing(.timedOut)
        ),
        RetryCase(
            "every kind of failure counts",
            answers: [.failing(.timedOut), .status(503), .failing(.connectionLost), .status(502)],
            waits: three,
            end: .status(502),
            stop: .attemptLimit
        ),
        RetryCase(
            "the last attempt succeeds",
            answers: [.status(503), .status(503), .status(503), .fine],
            waits: three,
            end: .status(200)
        ),
        RetryCase(
            "a final status after a transient one",
            answers: [.status(503), .status(404)],
            waits: [first],
            end: .status(404),
            stop: .notTransient
        ),
        RetryCase(
            "a final failure after a transient status",
            answers: [.status(503), .failing(.malformedResponse)],
            waits: [first],
            end: .failure(.malformedResponse),
            stop: .notTransient
        ),
        RetryCase(
            "the doubling goes on after a wait that the server asked for",
            answers: [.retryAfter("2"), .status(503), .fine],
            waits: [.milliseconds(2250), .milliseconds(500)],
            end: .status(200)
        ),
        RetryCase("Retry-After of a 200", answers: [.retryAfter("1", status: 200), .fine], end: .status(200)),
        RetryCase("Retry-After of a 301", answers: [.retryAfter("1", status: 301), .fine], end: .status(301)),
        RetryCase("Retry-After of a 413", answers: [.retryAfter("1", status: 413), .fine], end: .status(413)),
        RetryCase(
            "a status that the policy adds",
            policy: .halfWay { $0.statuses.insert(413) },
            answers: [.retryAfter("1", status: 413), .fine],
            waits: [.milliseconds(1250)],
            end: .status(200)
        ),
        RetryCase(
            "a status that the policy takes out",
            policy: .halfWay { $0.statuses.remove(500) },
            answers: [.status(500), .fine],
            end: .status(500)
        ),
        RetryCase(
            "no budget",
            policy: .halfWay { $0.budget = RetryBudget(burstCount: 0, share: 0, countPerSecond: 0) },
            answers: [.status(503), .fine],
            end: .status(503),
            stop: .budget
        ),
        RetryCase(
            "zero attempts",
            policy: .halfWay { $0.maximumAttemptCount = 0 },
            answers: [.status(503), .fine],
            end: .status(503),
            stop: .attemptLimit
        ),
    ]
}
