// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Is told what happens to calls; see ``DataRequestType/observing(by:timeSource:random:)``.
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
    /// Records an event.
    ///
    /// It is called where the event happens and the call goes on when it returns: count, store, hand over, and never
    /// wait. An observer that writes to a disk or a network is wrapped by ``buffered(eventCount:)``, which cannot slow
    /// a call. The events of one `started` and `finished` come one at a time and in order; those of different calls
    /// come from many threads at once.
    func handle(_ event: CallEvent)
}
