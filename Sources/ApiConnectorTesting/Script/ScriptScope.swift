// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The scripts of one test: made inside it, ended with it.
package final class ScriptScope: Sendable {
    /// The scope of the test that runs in this task.
    @TaskLocal package static var current: ScriptScope?

    package let name: String

    private let ledgers = Locked<[Ledger]>([])
    private let onLateRequest: @Sendable (String) -> Void

    /// Makes a scope.
    ///
    /// - Parameters:
    ///   - name: What the error of a late request calls it.
    ///   - onLateRequest: What records the text of a late request.
    package init(named name: String, onLateRequest: @escaping @Sendable (String) -> Void) {
        self.name = name
        self.onLateRequest = onLateRequest
    }

    /// Makes a script end with this scope.
    package func add<Router>(_ script: Script<Router>) {
        add(script.ledger)
    }

    func add(_ ledger: Ledger) {
        ledger.state.withLock { $0.onLateRequest = onLateRequest }
        ledgers.withLock { $0.append(ledger) }
    }

    /// Ends its scripts, those included that are made while it waits.
    ///
    /// - Parameters:
    ///   - limit: The longest wait for requests under way, of each script.
    ///   - hasFailed: Whether the test has ended by an error; what it then did not ask for is no verdict.
    package func end(waitingUpTo limit: Duration, hasFailed: Bool) async -> [Verdict] {
        var verdicts: [Verdict] = []
        while let ledger = ledgers.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
            verdicts += await ledger.end(scope: name, waitingUpTo: limit, includingUnused: !hasFailed)
        }
        return verdicts
    }
}
