// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The settings of all calls of a connection; the ``CallOptions`` of a call override them.
public struct ConnectionConfiguration: Sendable {
    /// Header fields of every request, which override those of the environment and the router; none by default.
    public var headers: HTTPHeaders {
        get { storage.values.headers }
        set { change { $0.headers = newValue } }
    }

    /// The checks that a response has to pass; ``ResponseValidation/standard`` by default.
    public var validation: ResponseValidation {
        get { storage.values.validation }
        set { change { $0.validation = newValue } }
    }

    /// The encoder for JSON bodies; Foundation's default encoder by default.
    ///
    /// ``JSONCoding`` sets both encoder and decoder. All calls share the encoder, so change it only before you pass the
    /// configuration to a connection.
    public var encoder: JSONEncoder {
        get { coders.encoder }
        set { change { $0.set(JSONCoders(newValue, $0.coders.decoder)) } }
    }

    /// The decoder for JSON; Foundation's default decoder by default.
    ///
    /// ``JSONCoding`` sets both encoder and decoder. All calls share the decoder, so change it only before you pass the
    /// configuration to a connection.
    public var decoder: JSONDecoder {
        get { coders.decoder }
        set { change { $0.set(JSONCoders($0.coders.encoder, newValue)) } }
    }

    /// Encoder and decoder; a caller may have changed their properties in place.
    var coders: JSONCoders { storage.values.coders }

    /// Whether the encoder or the decoder was set, directly or with ``JSONCoding``; false by default.
    ///
    /// Changing properties of an existing coder does not count.
    public var hasOwnCoders: Bool { storage.values.hasOwnCoders }

    /// Sets both encoder and decoder.
    public mutating func use(_ json: JSONCoding) {
        change { $0.set(JSONCoders(json.makeEncoder(), json.makeDecoder())) }
    }

    /// The maximum size of a body that is read into memory, in bytes; 64 MiB by default.
    public var maximumBodyByteCount: Int {
        get { storage.values.maximumBodyByteCount }
        set { change { $0.maximumBodyByteCount = newValue } }
    }

    /// The maximum size of a record of a stream, in bytes; 16 MiB by default.
    public var maximumRecordByteCount: Int {
        get { storage.values.maximumRecordByteCount }
        set { change { $0.maximumRecordByteCount = newValue } }
    }

    /// 16 MiB.
    public static let standardMaximumRecordByteCount = 16 * 1024 * 1024

    /// The time limits of a call; by default no limit is set here, so the defaults of ``Timeouts`` apply.
    public var timeouts: Timeouts {
        get { storage.values.timeouts }
        set { change { $0.set(newValue) } }
    }

    /// The policy for redirects; ``RedirectPolicy/standard`` by default.
    public var redirects: RedirectPolicy {
        get { storage.values.redirects }
        set { change { $0.redirects = newValue } }
    }

    /// The source of the time; ``TimeSource/system`` by default.
    public var timeSource: any TimeSource {
        get { timers.timeSource }
        set { change { $0.timers = TimerQueue.on(newValue) } }
    }

    /// The resolved time limits, which each request gets.
    var limits: AttemptLimits { storage.values.limits }

    /// The timers of all calls with this configuration.
    var timers: TimerQueue { storage.values.timers }

    /// The timers, limits and coders, as each request gets them.
    var requestSettings: RequestSettings { storage.requestSettings }

    private struct Values: Sendable {
        var headers: HTTPHeaders
        var validation: ResponseValidation
        var coders: JSONCoders
        var hasOwnCoders: Bool
        var maximumBodyByteCount: Int
        var maximumRecordByteCount: Int
        var timeouts: Timeouts
        var limits: AttemptLimits
        var redirects: RedirectPolicy
        var timers: TimerQueue

        mutating func set(_ coders: JSONCoders) {
            self.coders = coders
            hasOwnCoders = true
        }

        mutating func set(_ timeouts: Timeouts) {
            self.timeouts = timeouts
            limits = AttemptLimits(timeouts.over(.standard).applied)
        }
    }

    /// All copies of a configuration share this storage, because every call has a copy and few calls change it.
    private final class Storage: Sendable {
        let values: Values
        let requestSettings: RequestSettings

        init(_ values: Values) {
            self.values = values
            requestSettings = RequestSettings(values.timers, values.limits, values.coders)
        }
    }

    private var storage: Storage

    /// Makes a configuration.
    ///
    /// ```swift
    /// ConnectionConfiguration(json: JSONCoding(dates: .iso8601, keys: .snakeCase))
    /// ```
    ///
    /// `encoder` and `decoder` replace the coders of `json`.
    public init(
        headers: HTTPHeaders = HTTPHeaders(),
        validation: ResponseValidation = .standard,
        json: JSONCoding? = nil,
        encoder: JSONEncoder? = nil,
        decoder: JSONDecoder? = nil,
        maximumBodyByteCount: Int = ResponseDelivery.standard.maximumByteCount,
        maximumRecordByteCount: Int = ConnectionConfiguration.standardMaximumRecordByteCount,
        timeouts: Timeouts = Timeouts(),
        redirects: RedirectPolicy = .standard,
        timeSource: any TimeSource = .system
    ) {
        storage = Storage(
            Values(
                headers: headers,
                validation: validation,
                coders: JSONCoders(
                    encoder ?? json?.makeEncoder() ?? JSONEncoder(),
                    decoder ?? json?.makeDecoder() ?? JSONDecoder()
                ),
                hasOwnCoders: json != nil || encoder != nil || decoder != nil,
                maximumBodyByteCount: maximumBodyByteCount,
                maximumRecordByteCount: maximumRecordByteCount,
                timeouts: timeouts,
                limits: AttemptLimits(timeouts.over(.standard).applied),
                redirects: redirects,
                timers: TimerQueue.on(timeSource)
            )
        )
    }

    /// Applies a call's options to this configuration.
    mutating func apply(_ options: borrowing CallOptions) {
        if let validation = options.validation { self.validation = validation }
        if let encoder = options.encoder { self.encoder = encoder }
        if let decoder = options.decoder { self.decoder = decoder }
        if let count = options.maximumBodyByteCount { maximumBodyByteCount = count }
        if let count = options.maximumRecordByteCount { maximumRecordByteCount = count }
        if let timeouts = options.timeouts { self.timeouts = timeouts.over(self.timeouts) }
        if let redirects = options.redirects { self.redirects = redirects }
        if let timers = options.timers { change { $0.timers = timers } }
    }

    private mutating func change(_ change: (inout Values) -> Void) {
        var values = storage.values
        change(&values)
        storage = Storage(values)
    }
}
