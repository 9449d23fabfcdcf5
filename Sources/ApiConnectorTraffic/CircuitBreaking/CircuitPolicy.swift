// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// When a host is left alone; see ``ApiConnector/DataRequestType/circuitBreaking(_:)``.
public struct CircuitPolicy: Sendable {
    /// The share of failures from which on a host is left alone; a half by default.
    public var failureShare: Double

    /// The time over which failures are counted; the last 30 seconds, in steps of a tenth, by default.
    public var window: Duration

    /// How many requests the window has to have seen before a share says anything; 10 by default.
    public var minimumCount: Int

    /// How long a host is left alone before it is tried; 30 seconds by default, a year at most.
    public var openDuration: Duration

    /// How many requests try it then, and have to succeed, all others being refused; 1 by default.
    ///
    /// Another is let through when the last one began ``openDuration`` ago and has not ended.
    public var probeCount: Int

    /// The statuses that are failures, every other being a success; ``standardStatuses`` by default.
    public var statuses: Set<HTTPStatus>

    /// The kinds of error that are failures, every other saying nothing about the host; ``standardKinds`` by default.
    public var kinds: Set<ApiConnectorError.Kind>

    /// Makes a policy.
    public init(
        failureShare: Double = 0.5,
        window: Duration = .seconds(30),
        minimumCount: Int = 10,
        openDuration: Duration = .seconds(30),
        probeCount: Int = 1,
        statuses: Set<HTTPStatus> = CircuitPolicy.standardStatuses,
        kinds: Set<ApiConnectorError.Kind> = CircuitPolicy.standardKinds
    ) {
        self.failureShare = failureShare
        self.window = window
        self.minimumCount = minimumCount
        self.openDuration = openDuration
        self.probeCount = probeCount
        self.statuses = statuses
        self.kinds = kinds
    }

    /// The defaults.
    public static let standard = CircuitPolicy()

    /// Statuses of a host that is not well: 500, 502, 503 and 504.
    ///
    /// 429 is not among them: such a host is well, and asked too much; ``ApiConnector/DataRequestType/limiting(_:by:)`` heeds
    /// that.
    public static let standardStatuses: Set<HTTPStatus> = [500, 502, 503, 504]

    /// Kinds of error that the host or the way to it causes.
    ///
    /// Not among them: a cancel, the call's own deadline, and whatever the request itself or a provider is to blame
    /// for.
    public static let standardKinds: Set<ApiConnectorError.Kind> = [
        .nameNotResolved, .cannotConnect, .connectionLost, .timedOut, .stalled, .malformedResponse,
    ]
}
