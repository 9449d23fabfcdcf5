// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// Receives each event of an engine before the event has an effect.
package protocol ScriptReporter: Sendable {
    /// Reports one event.
    ///
    /// - Returns: The reason why a received request must not be answered; nil if it may be, and for all other events.
    func report(_ event: ScriptEvent) -> String?
}

/// An event of an engine.
package enum ScriptEvent: Sendable {
    /// A request has arrived.
    case entered(RecordedRequest)
    /// An answer of a declaration was used.
    case took(declaration: Int, step: Int)
    /// A request waits for the test, a timeout or a cancel.
    case waits(Int)
    /// A request waits for the test to release the answer.
    case held(Int, declaration: Int, step: Int)
    /// A request has ended.
    case ended(Int, RecordedRequest.Outcome)
    /// An issue was found.
    case issue(TestIssue)
}
