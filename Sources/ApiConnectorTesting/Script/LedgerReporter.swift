// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// What is told each event of a ledger before the event has an effect.
protocol LedgerReporter: Sendable {
    /// Tells one event.
    ///
    /// - Returns: Why a request that has come is not answered; nil for all other events.
    func report(_ event: LedgerEvent) -> String?
}

/// An event of a ledger.
enum LedgerEvent: Sendable {
    /// A request has come.
    case entered(SentRequest)
    /// An answer of a declaration was used.
    case took(declaration: Int, step: Int)
    /// A request waits for a test, a timeout or a cancel.
    case waits(Int)
    /// A request waits for the test to release the answer.
    case held(Int, declaration: Int, step: Int)
    /// A request has ended.
    case ended(Int, SentRequest.Outcome)
    /// An issue was found.
    case verdict(Verdict)
}
