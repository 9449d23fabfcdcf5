// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting

extension RetryTableTests {
    /// A separate base delay after a response that says that the client asks too often; half of it each time.
    private static let policy = RetryPolicy.halfWay { $0.throttlingDelay = .seconds(4) }

    static let throttling: [RetryCase] = [
        RetryCase(
            "429 has the delay for throttling",
            policy: policy,
            answers: [.status(429), .status(429), .fine],
            waits: [.seconds(2), .seconds(4)],
            end: .status(200)
        ),
        RetryCase(
            "403 with Retry-After has the delay for throttling",
            policy: policy,
            answers: [.retryAfter("2", status: 403), .fine],
            waits: [.seconds(4)],
            end: .status(200)
        ),
        RetryCase(
            "503 with Retry-After has the delay for throttling",
            policy: policy,
            answers: [.retryAfter("1"), .fine],
            waits: [.seconds(3)],
            end: .status(200)
        ),
        RetryCase(
            "a delay for throttling above the maximum is kept",
            policy: .halfWay {
                $0.throttlingDelay = .seconds(60)
                $0.maximumDelay = .seconds(10)
            },
            answers: [.status(429), .status(429), .status(503), .fine],
            waits: [.seconds(30), .seconds(30), .seconds(1)],
            end: .status(200)
        ),
        RetryCase(
            "503 without Retry-After has the initial delay",
            policy: policy,
            answers: [.status(503), .fine],
            waits: [.milliseconds(250)],
            end: .status(200)
        ),
        RetryCase(
            "a lost connection has the initial delay",
            policy: policy,
            answers: [.failing(.connectionLost), .fine],
            waits: [.milliseconds(250)],
            end: .status(200)
        ),
    ]
}
