// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Receives the events of calls; see ``DataRequestType/observing(by:timeSource:random:)``.
///
/// ```swift
/// struct SlowCalls: CallObserver {
///     let report: @Sendable (String) -> Void
///
///     func handle(_ event: CallEvent) {
///         guard case .finished(let totals) = event.kind, totals.elapsed > .seconds(2) else { return }
///         report("\(event.route ?? "-") took \(totals.elapsed)")
///     }
/// }
/// ```
public protocol CallObserver: Sendable {
    /// Handles an event.
    ///
    /// The call waits until this function returns. So the function can count or store the event, but must not block. If
    /// an observer writes to a disk or a network, wrap it with ``buffered(eventCount:)``. The events from a `started`
    /// to its `finished` are delivered one at a time and in order. Events of different calls come from many threads at
    /// once.
    func handle(_ event: CallEvent)

    /// Whether the observer wants the events of a call that begins now; true by default.
    ///
    /// If false, the call is not observed and makes no events for this observer. Return false, for example, while a
    /// logger drops all lines.
    var isListening: Bool { get }
}

extension CallObserver {
    /// True.
    public var isListening: Bool { true }
}
