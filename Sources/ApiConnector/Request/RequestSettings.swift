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

extension ApiRequest {
    /// The timers of the connection; nil for a request without a connection.
    var timers: TimerQueue? {
        get { settings?.timers }
        set { settings = RequestSettings(newValue, limits, coders) }
    }

    /// The storage of ``timeouts``; nil for no limits.
    var limits: AttemptLimits? {
        get { settings?.limits }
        set { settings = RequestSettings(timers, newValue, coders) }
    }

    /// The connection's encoder and decoder; nil for a request without a connection.
    var coders: JSONCoders? { settings?.coders }
}
