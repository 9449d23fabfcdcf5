// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// When the circuit of a host opens; see ``ApiConnector/DataRequestType/circuitBreaking(_:)``.
public struct CircuitPolicy: Sendable {
    /// The share of failures at which the circuit opens; 0.5 by default.
    public var failureShare: Double

    /// The sliding window in which failures are counted; the last 30 seconds by default.
    ///
    /// The window moves in steps of a tenth of its length.
    public var window: Duration

    /// The smallest number of requests in the window for the circuit to open; 10 by default.
    public var minimumCount: Int

    /// How long the circuit stays open before a trial request; 30 seconds by default, one year at most.
    public var openDuration: Duration

    /// How many trial requests must succeed to close the circuit; 1 by default.
    ///
    /// All other requests are refused meanwhile.
    ///
    /// If a trial request is still running ``openDuration`` after its start, another one is admitted.
    public var probeCount: Int

    /// The statuses that count as failures; ``standardStatuses`` by default.
    ///
    /// Every other status is a success.
    public var statuses: Set<HTTPStatus>

    /// The error kinds that count as failures; ``standardKinds`` by default.
    ///
    /// Other errors are ignored.
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

    /// Statuses of a failing host: 500, 502, 503 and 504.
    ///
    /// 429 is not among them, because a host that gets too many requests still works.
    /// ``ApiConnector/DataRequestType/limiting(_:by:)`` handles 429.
    public static let standardStatuses: Set<HTTPStatus> = [500, 502, 503, 504]

    /// Error kinds that the host or the network causes.
    ///
    /// A cancellation, the call's own deadline, and errors that the request itself or a provider causes are not among
    /// them.
    public static let standardKinds: Set<ApiConnectorError.Kind> = [
        .nameNotResolved, .cannotConnect, .connectionLost, .timedOut, .stalled, .malformedResponse,
    ]
}
