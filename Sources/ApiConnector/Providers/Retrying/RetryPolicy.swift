// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// When and how often a request is sent again.
///
/// The same type is used in three places:
///
/// - ``DataRequestType/retrying(_:)``, for calls that fail
/// - ``StreamFormat/resuming(_:)``, for streams that break off
/// - ``ApiConnectionType/download(at:to:resuming:options:)``, for downloads that break off
///
/// For a stream, an attempt is a connection. It succeeds with its first new element, which resets all counts.
///
/// See <doc:RetryingRequests>.
public struct RetryPolicy: Sendable {
    /// The maximum number of failed attempts in a row, including the first one; 4 by default.
    ///
    /// A connection that delivered an element is not a failed attempt. For a download, each new byte counts as an
    /// element. A feed of events can be quiet, so any byte counts as an element, and a connection that lasted longer
    /// than ``maximumDelay`` also counts as successful.
    public var maximumAttemptCount: Int

    /// The maximum time from the start of the first attempt to the start of the last one; 2 minutes by default, nil for
    /// no limit.
    ///
    /// For a stream, the time starts when it breaks off.
    public var maximumDuration: Duration?

    /// The upper limit of the wait before the second attempt, which doubles for each further attempt; half a second by
    /// default.
    ///
    /// The wait is a random part of this limit, plus the wait that the server requests, if any.
    public var initialDelay: Duration

    /// Like ``initialDelay``, for a response that indicates throttling; nil, the default, uses ``initialDelay``.
    ///
    /// Such a response has status 429, or status 403 or 503 with a `Retry-After` field. A server that throttles needs
    /// more time than one that lost a connection.
    public var throttlingDelay: Duration?

    /// The maximum to which the delay doubles; 30 seconds by default.
    ///
    /// A longer ``throttlingDelay`` is used, but not doubled.
    public var maximumDelay: Duration

    /// The maximum wait that a server can request, with `Retry-After` or the `retry` of an event; 1 minute by default.
    ///
    /// If the server requests more, the next attempt starts after this time.
    public var maximumRetryAfter: Duration

    /// Status codes worth retrying; ``standardStatuses`` by default.
    ///
    /// A 403 with a `Retry-After` field counts as 429.
    public var statuses: Set<HTTPStatus>

    /// The kinds of failure worth retrying; ``standardKinds`` by default.
    public var kinds: Set<ApiConnectorError.Kind>

    /// The limit on retries per host; a ``RetryBudget`` with its default values by default.
    ///
    /// A stream uses the budget of the ``DataRequestType/retrying(_:)`` provider that its requests pass. Without such a
    /// provider, it uses this budget. The first connection after one that delivered an element takes no token.
    public var budget: RetryBudget

    /// The source of retry tokens that replaces ``budget``, for example to share a budget between processes; nil, the
    /// default, uses ``budget``.
    public var tokens: (any RetryTokenSource)?

    /// Makes an `Idempotency-Key` for a request whose method is not idempotent and that has no such key; nil, the
    /// default, adds none.
    ///
    /// Use it only if the backend supports the field; other backends may do the work twice. ``randomKey`` makes a UUID.
    public var idempotencyKey: (@Sendable () -> String)?

    /// Returns a random number from 0 up to but not including 1; uses the system's generator by default.
    public var random: @Sendable () -> Double

    /// Makes a policy.
    public init(
        maximumAttemptCount: Int = 4,
        maximumDuration: Duration? = .seconds(120),
        initialDelay: Duration = .milliseconds(500),
        throttlingDelay: Duration? = nil,
        maximumDelay: Duration = .seconds(30),
        maximumRetryAfter: Duration = .seconds(60),
        statuses: Set<HTTPStatus> = RetryPolicy.standardStatuses,
        kinds: Set<ApiConnectorError.Kind> = RetryPolicy.standardKinds,
        budget: RetryBudget = RetryBudget(),
        idempotencyKey: (@Sendable () -> String)? = nil,
        random: @escaping @Sendable () -> Double = { .random(in: 0..<1) }
    ) {
        self.maximumAttemptCount = maximumAttemptCount
        self.maximumDuration = maximumDuration
        self.initialDelay = initialDelay
        self.throttlingDelay = throttlingDelay
        self.maximumDelay = maximumDelay
        self.maximumRetryAfter = maximumRetryAfter
        self.statuses = statuses
        self.kinds = kinds
        self.budget = budget
        self.idempotencyKey = idempotencyKey
        self.random = random
    }

    /// The defaults.
    public static let standard = RetryPolicy()

    /// A more patient policy for streams and downloads: 8 attempts in a row, 5 minutes, waits from 1 second to 1
    /// minute.
    public static let resumption = RetryPolicy(
        maximumAttemptCount: 8,
        maximumDuration: .seconds(300),
        initialDelay: .seconds(1),
        maximumDelay: .seconds(60)
    )

    /// Makes a UUID, for ``idempotencyKey``.
    public static let randomKey: @Sendable () -> String = { UUID().uuidString.lowercased() }
}

extension RetryPolicy {
    /// Status codes that may be different on a retry, each with its reason.
    public static let standardStatuses: Set<HTTPStatus> = [
        // Request Timeout: the server gave up waiting for the request on an idle connection.
        408,
        // Too Early: the server does not risk a replay of early data; a retry has no early data.
        425,
        // Too Many Requests: usually with Retry-After.
        429,
        // Internal Server Error: often one bad instance of many. 501 and 505 are left out, because they are permanent.
        500,
        // Bad Gateway: a proxy got an invalid response from the server.
        502,
        // Service Unavailable: overload or maintenance, often with Retry-After.
        503,
        // Gateway Timeout: a proxy got no response in time.
        504,
    ]

    /// The kinds of failure that may be transient, each with its reason.
    ///
    /// Not included are kinds with other causes:
    ///
    /// - the request or the caller: `invalidRequest`, `encodingFailed`, `bodyTooLarge`, `notReplayable`, `cancelled`,
    ///   `deadlineExceeded`
    /// - a problem that a person has to fix: `secureConnectionFailed`, `credentialsUnavailable`
    /// - the decision of another wrapper: `circuitOpen`, `notCached`
    /// - a server that will respond the same way again: `malformedResponse`
    public static let standardKinds: Set<ApiConnectorError.Kind> = [
        // The resolver was not reachable, or the network changed. A host name that is wrong costs a few attempts.
        .nameNotResolved,
        // The network was down for a moment, or the server is restarting.
        .cannotConnect,
        // The server closed an idle connection, or the network changed.
        .connectionLost,
        // An attempt took too long; the next one may reach another instance.
        .timedOut,
        // Like timedOut; the connection may be lost without a notification.
        .stalled,
    ]

    /// The kinds of failure before any byte is sent, after which every request can be sent again.
    public static let kindsBeforeSending: Set<ApiConnectorError.Kind> = [.nameNotResolved, .cannotConnect]

    func isTransient(_ result: Result<ApiResponse, ApiConnectorError>) -> Bool {
        switch result {
        case .success(let response): isTransient(response)
        case .failure(let error): !error.isPermanent && isTransient(error)
        }
    }

    func isTransient(_ response: ApiResponse) -> Bool { isTransient(response.status, response.headers) }

    /// Whether an error is transient, by its kind or by the rejected status.
    private func isTransient(_ error: ApiConnectorError) -> Bool {
        if kinds.contains(error.kind) { return true }
        guard error.kind == .unacceptableStatus || error.kind == .backendFailure, let response = error.response else {
            return false
        }
        return isTransient(response.status, response.headers)
    }

    /// Whether a status is transient.
    ///
    /// A 403 with `Retry-After` counts as 429; GitHub responds this way.
    private func isTransient(_ status: HTTPStatus, _ headers: HTTPHeaders) -> Bool {
        if status == 403, headers.contains(.retryAfter) { return statuses.contains(429) }
        return statuses.contains(status)
    }
}
