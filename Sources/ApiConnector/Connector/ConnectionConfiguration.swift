// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// What holds for every call of a connection unless its ``CallOptions`` say otherwise.
public struct ConnectionConfiguration: Sendable {
    /// Header fields of every request, laid over the environment's and the router's; none by default.
    public var headers: HTTPHeaders {
        get { storage.values.headers }
        set { change { $0.headers = newValue } }
    }

    /// What a response has to be; ``ResponseValidation/standard`` by default.
    public var validation: ResponseValidation {
        get { storage.values.validation }
        set { change { $0.validation = newValue } }
    }

    /// What encodes JSON bodies; Foundation's defaults by default.
    ///
    /// ``JSONCoding`` sets it together with the decoder. All calls share it: change it before the configuration is
    /// handed over, not after.
    public var encoder: JSONEncoder {
        get { storage.values.coders.encoder }
        set { change { $0.set(JSONCoders(newValue, $0.coders.decoder)) } }
    }

    /// What decodes JSON; Foundation's defaults by default.
    ///
    /// ``JSONCoding`` sets it together with the encoder. All calls share it: change it before the configuration is
    /// handed over, not after.
    public var decoder: JSONDecoder {
        get { storage.values.coders.decoder }
        set { change { $0.set(JSONCoders($0.coders.encoder, newValue)) } }
    }

    /// Encoder and decoder, which a caller may have configured in place.
    var coders: JSONCoders { storage.values.coders }

    /// Whether the encoder or the decoder was set, by ``JSONCoding`` or by itself; false by default.
    ///
    /// A coder that was configured in place counts as one that was not set.
    public var hasOwnCoders: Bool { storage.values.hasOwnCoders }

    /// Sets encoder and decoder together.
    public mutating func use(_ json: JSONCoding) {
        change { $0.set(JSONCoders(json.makeEncoder(), json.makeDecoder())) }
    }

    /// The largest body that is read into memory, in bytes; 64 MiB by default.
    public var maximumBodyByteCount: Int {
        get { storage.values.maximumBodyByteCount }
        set { change { $0.maximumBodyByteCount = newValue } }
    }

    /// The longest record of a stream, in bytes; 16 MiB by default.
    public var maximumRecordByteCount: Int {
        get { storage.values.maximumRecordByteCount }
        set { change { $0.maximumRecordByteCount = newValue } }
    }

    /// 16 MiB.
    public static let standardMaximumRecordByteCount = 16 * 1024 * 1024

    /// How long a call may take; no limit is set by default, so that the defaults of ``Timeouts`` hold.
    public var timeouts: Timeouts {
        get { storage.values.timeouts }
        set { change { $0.set(newValue) } }
    }

    /// What happens with redirects; ``RedirectPolicy/standard`` by default.
    public var redirects: RedirectPolicy {
        get { storage.values.redirects }
        set { change { $0.redirects = newValue } }
    }

    /// Where the time comes from; ``TimeSource/system`` by default.
    public var timeSource: any TimeSource {
        get { timers.timeSource }
        set { change { $0.timers = TimerQueue.on(newValue) } }
    }

    /// The time limits that apply, and that each request is given.
    var limits: AttemptLimits { storage.values.limits }

    /// What is due when, for all calls with this configuration.
    var timers: TimerQueue { storage.values.timers }

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

    /// Shared by all copies: every call has one, and few change theirs.
    private final class Storage: Sendable {
        let values: Values

        init(_ values: Values) {
            self.values = values
        }
    }

    private var storage: Storage

    /// Makes a configuration.
    ///
    /// ```swift
    /// ConnectionConfiguration(json: JSONCoding(dates: .iso8601, keys: .snakeCase))
    /// ```
    ///
    /// An `encoder` or `decoder` replaces that of `json`.
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

    /// Lays a call's options over this configuration.
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
