// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiRequest {
    /// Whether the time of an attempt is limited, by ``Timeouts/attempt`` or by the call's ``deadline``.
    ///
    /// The stall limit alone does not count.
    ///
    /// ``ApiConnectorError/mapping(_:_:)`` checks this property itself. A provider that responds within microseconds
    /// can check it first. If it is false, the provider can use ``ApiConnectorError/init(mapping:request:)``, which
    /// needs no closure.
    public var isTimeLimited: Bool { deadline != nil || limits?.timeouts.attempt != nil }

    /// Throws if the call was canceled or is past its deadline.
    @inline(__always)
    func checkNotOver() throws(ApiConnectorError) {
        if Task.isCancelled { throw .cancelled(self) }
        if let deadline, deadline <= timeSource.now { throw .deadlineExceeded(self) }
    }

    /// A watch of the request's limits; nil if it has none.
    func newWatch() -> AttemptWatch? {
        let timeouts = self.timeouts
        guard timeouts.attempt != nil || timeouts.stall != nil || deadline != nil else { return nil }
        return AttemptWatch(timeouts, deadline: deadline, timers: timerQueue, limits: limits, attempt: attempt)
    }
}
