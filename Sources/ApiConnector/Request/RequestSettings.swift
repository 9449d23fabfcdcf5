// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The timers, limits and coders that a request carries, from its connection or its call's options.
///
/// They are one object, so that they cost a copy of a request one reference. Requests of a connection without options of
/// their own share it.
final class RequestSettings: Sendable {
    /// The timers; nil for the system's.
    let timers: TimerQueue?
    /// The attempt and stall limits; nil for no limits.
    let limits: AttemptLimits?
    /// The encoder and decoder; nil for Foundation's defaults.
    let coders: JSONCoders?

    init(_ timers: TimerQueue?, _ limits: AttemptLimits?, _ coders: JSONCoders?) {
        self.timers = timers
        self.limits = limits
        self.coders = coders
    }
}

/// Time limits in a class, so that all requests of a connection share them.
final class AttemptLimits: Sendable {
    let timeouts: Timeouts

    init(_ timeouts: Timeouts) {
        self.timeouts = timeouts
    }
}

extension RequestState {
    /// The settings that a request carries.
    struct Settings: Sendable {
        fileprivate var shared: RequestSettings?

        init(_ shared: RequestSettings? = nil) { self.shared = shared }
    }
}

extension ApiRequest {
    /// Replaces all settings.
    mutating func use(_ settings: RequestSettings) { state.change { $0.settings.shared = settings } }

    private var settings: RequestSettings? { state.storage?.parts.settings.shared }

    /// The timers of the connection; nil for a request without a connection.
    var timers: TimerQueue? {
        get { settings?.timers }
        set { use(RequestSettings(newValue, limits, coders)) }
    }

    /// The storage of ``timeouts``; nil for no limits.
    var limits: AttemptLimits? {
        get { settings?.limits }
        set { use(RequestSettings(timers, newValue, coders)) }
    }

    /// The connection's encoder and decoder; nil for a request without a connection.
    var coders: JSONCoders? { settings?.coders }

    /// The connection's JSON encoder; nil for a request without a connection, which uses Foundation's defaults.
    ///
    /// A test double encodes its canned values with it.
    public var encoder: JSONEncoder? { coders?.encoder }

    /// The connection's JSON decoder; nil for a request without a connection, which uses Foundation's defaults.
    public var decoder: JSONDecoder? { coders?.decoder }
}
