// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

/// One row of the table: the request, the server's responses, and the expected result.
struct RetryCase: Sendable, CustomTestStringConvertible {
    typealias Answer = TestConnectorResponse

    let testDescription: String
    var method = HTTPMethod.get
    var headers = HTTPHeaders()
    var body = RequestBody.empty
    var policy = RetryPolicy.halfWay
    var timeouts = Timeouts.unlimited
    /// Attempt by attempt; the last is for all further ones.
    let answers: [Answer]
    let waits: [Duration]
    let end: End
    var stop: RetryStop?

    enum End: Equatable, Sendable {
        case status(HTTPStatus)
        case failure(ApiConnectorError.Kind)
    }

    init(
        _ name: String,
        _ method: HTTPMethod = .get,
        headers: HTTPHeaders = HTTPHeaders(),
        body: RequestBody = .empty,
        policy: RetryPolicy = .halfWay,
        timeouts: Timeouts = .unlimited,
        answers: [Answer],
        waits: [Duration] = [],
        end: End,
        stop: RetryStop? = nil
    ) {
        testDescription = name
        self.method = method
        self.headers = headers
        self.body = body
        self.policy = policy
        self.timeouts = timeouts
        self.answers = answers
        self.waits = waits
        self.end = end
        self.stop = stop
    }
}

extension RetryPolicy {
    /// The standard policy, in which chance is always half: waits of 0.25, 0.5 and 1 second.
    static let halfWay = RetryPolicy(random: { 0.5 })

    /// The standard policy with chance fixed, and what differs.
    static func halfWay(_ change: (inout RetryPolicy) -> Void) -> RetryPolicy {
        var policy = halfWay
        change(&policy)
        return policy
    }
}

extension TestConnectorResponse {
    static let fine = TestConnectorResponse.data(Data("fine".utf8))

    static func retryAfter(_ text: String, status: HTTPStatus = 503) -> Self {
        .status(status, headers: ["Retry-After": text])
    }

    static func failing(_ kind: ApiConnectorError.Kind) -> Self {
        .failure(ApiConnectorError(kind, "it failed"))
    }
}
