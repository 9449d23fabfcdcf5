// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// When and how often a request is sent again.
///
/// The same policy serves a call that fails, ``DataRequestType/retrying(_:)``, and a stream or a download that breaks off,
/// ``StreamFormat/resuming(_:)`` and ``ApiConnectionType/download(at:to:resuming:options:)``. For a stream, an attempt is a
/// connection. It succeeds with its first new element, and the next break starts all counts again.
public struct RetryPolicy: Sendable {
    /// The most attempts in a row that fail, the first one included; 4 by default.
    ///
    /// A connection that brought an element is not a failed attempt. For a download, an element is a byte that was not
    /// there before. A feed of events can be quiet: any byte counts there, and so does a connection that lasted longer than
    /// ``maximumDelay``.
    public var maximumAttemptCount: Int

    /// The longest time from the start of the first attempt to the start of the last; 2 minutes by default, nil is
    /// without limit.
    ///
    /// For a stream, the time starts when it breaks off.
    public var maximumDuration: Duration?

    /// The longest wait before the second attempt, beyond what the server asks for; doubled for each further one.
    ///
    /// Half a second by default. The wait is a random part of it.
    public var initialDelay: Duration

    /// As ``initialDelay``, after a response that says that the client asks too often; nil, the default, for the same.
    ///
    /// Such a response has status 429, or status 403 or 503 with a `Retry-After` field. A server that throttles needs
    /// longer than one that has lost a connection.
    public var throttlingDelay: Duration?

    /// What the doubling stops at; 30 seconds by default.
    ///
    /// A longer ``throttlingDelay`` is kept, and not doubled.
    public var maximumDelay: Duration

    /// The longest wait that a server may ask for, by `Retry-After` or by the `retry` of an event; 1 minute by default.
    ///
    /// If it asks for more, the next attempt starts after this time.
    public var maximumRetryAfter: Duration

    /// Status codes worth retrying; ``standardStatuses`` by default.
    ///
    /// A 403 with a `Retry-After` field counts as 429.
    public var statuses: Set<HTTPStatus>

    /// The kinds of failure that may pass by themselves; ``standardKinds`` by default.
    public var kinds: Set<ApiConnectorError.Kind>

    /// How many retries each host is asked to bear; ``RetryBudget/init(burstCount:share:countPerSecond:)`` with its
    /// defaults by default.
    ///
    /// A stream takes its retries from the budget of the ``DataRequestType/retrying(_:)`` that its requests pass. Only
    /// without such a provider does it have this budget for itself. The first connection after one that brought an element
    /// takes none.
    public var budget: RetryBudget

    /// Makes the `Idempotency-Key` of a request that needs one to be repeated and has none; nil, the default, adds
    /// none.
    ///
    /// Only for a backend that knows the field: one that does not does the work twice. ``randomKey`` makes a UUID.
    public var idempotencyKey: (@Sendable () -> String)?

    /// Where chance comes from: a number from 0 to 1, and not 1; the system's generator by default.
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

    /// More patient than the defaults, for streams and downloads: 8 attempts in a row, 5 minutes, waits that start at
    /// 1 second and stop at 1 minute.
    public static let resumption = RetryPolicy(
        maximumAttemptCount: 8,
        maximumDuration: .seconds(300),
        initialDelay: .seconds(1),
        maximumDelay: .seconds(60)
    )

    /// Makes a UUID, for ``idempotencyKey``.
    public static let randomKey: @Sendable () -> String = { UUID().uuidString.lowercased() }
}
