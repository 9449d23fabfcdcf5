// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// What holds for every call of a connection unless its ``CallOptions`` say otherwise.
public struct ConnectionConfiguration: Sendable {
    /// Header fields of every request, laid over the environment's and the router's; none by default.
    public var headers: HTTPHeaders

    /// What a response has to be; ``ResponseValidation/standard`` by default.
    public var validation: ResponseValidation

    /// What encodes JSON bodies; Foundation's defaults by default.
    ///
    /// It is shared by all calls: change it before it is handed over, not after.
    public var encoder: JSONEncoder

    /// What decodes JSON; Foundation's defaults by default.
    ///
    /// It is shared by all calls: change it before it is handed over, not after.
    public var decoder: JSONDecoder

    /// The largest body that is read into memory, in bytes; 64 MiB by default.
    public var maximumBodyByteCount: Int

    /// The longest record of a stream, in bytes; 16 MiB by default.
    public var maximumRecordByteCount: Int

    /// 16 MiB.
    public static let standardMaximumRecordByteCount = 16 * 1024 * 1024

    /// How long a call may take; ``Timeouts/init(attempt:stall:overall:)`` with its defaults by default.
    public var timeouts: Timeouts

    /// What happens with redirects; ``RedirectPolicy/standard`` by default.
    public var redirects: RedirectPolicy

    /// Where the time comes from; ``TimeSource/system`` by default.
    public var timeSource: any TimeSource {
        get { timers.timeSource }
        set { timers = TimerQueue.on(newValue) }
    }

    /// What is due when, for all calls with this configuration.
    private(set) var timers: TimerQueue

    /// Makes a configuration.
    public init(
        headers: HTTPHeaders = HTTPHeaders(),
        validation: ResponseValidation = .standard,
        encoder: JSONEncoder = JSONEncoder(),
        decoder: JSONDecoder = JSONDecoder(),
        maximumBodyByteCount: Int = ResponseDelivery.standard.maximumByteCount,
        maximumRecordByteCount: Int = ConnectionConfiguration.standardMaximumRecordByteCount,
        timeouts: Timeouts = Timeouts(),
        redirects: RedirectPolicy = .standard,
        timeSource: any TimeSource = .system
    ) {
        self.headers = headers
        self.validation = validation
        self.encoder = encoder
        self.decoder = decoder
        self.maximumBodyByteCount = maximumBodyByteCount
        self.maximumRecordByteCount = maximumRecordByteCount
        self.timeouts = timeouts
        self.redirects = redirects
        self.timers = TimerQueue.on(timeSource)
    }

    /// Lays a call's options over this configuration.
    mutating func apply(_ options: borrowing CallOptions) {
        if let validation = options.validation { self.validation = validation }
        if let encoder = options.encoder { self.encoder = encoder }
        if let decoder = options.decoder { self.decoder = decoder }
        if let count = options.maximumBodyByteCount { maximumBodyByteCount = count }
        if let count = options.maximumRecordByteCount { maximumRecordByteCount = count }
        if let timeouts = options.timeouts { self.timeouts = timeouts }
        if let redirects = options.redirects { self.redirects = redirects }
        if let timers = options.timers { self.timers = timers }
    }
}
