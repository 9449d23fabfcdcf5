// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector

/// The state of a script: its declarations, requests and issues.
package final class ScriptEngine: Sendable {
    package struct State {
        package var declarations = DeclarationList()
        var requests = RequestLog()
        package var open = OpenExchanges()
        /// The answers that were used, by the number of their request.
        var given: [Int: (response: TestConnectorResponse, place: CodeLocation)] = [:]
        var issues: [TestIssue] = []
        /// The number of issues that were read.
        var readCount = 0
    }

    package let place: CodeLocation
    package let state: Locked<State>
    package let ending = ScriptEnding()

    /// The reporter of all events, in order; nil if there is none.
    let reporter: (any ScriptReporter)?

    private let collector = ScriptExchange.collector
    private let attachments = Locked<[any Sendable & AnyObject]>([])

    package init(
        at place: CodeLocation,
        declaring declarations: [Declaration] = [],
        reportingTo reporter: (any ScriptReporter)? = nil
    ) {
        self.place = place
        self.reporter = reporter
        state = Locked(State(declarations: DeclarationList(declarations)))
    }

    deinit {
        // Issues that were not read are printed, because no code can read them anymore.
        guard reporter == nil, ending.scope == nil else { return }
        let readCount = state.withLock { $0.readCount }
        let unread = issues(includingUnused: true).dropFirst(readCount)
        if !unread.isEmpty {
            let texts = unread.map(\.description).joined(separator: "\n")
            let which = readCount == 0 ? "the" : "these"
            StandardError.write("The test did not read \(which) issues of the script made at \(place):\n\(texts)")
        }
    }

    // MARK: - Declaring

    func declare(_ declaration: Declaration) -> Int {
        let (index, refusals) = state.withLock { $0.declarations.add(declaration) }
        for refusal in refusals { add(refusal) }
        return index
    }

    package func add(_ step: AnswerStep, to declaration: Int) {
        let refusals = state.withLock { $0.declarations.add(step, to: declaration) }
        for refusal in refusals { add(refusal) }
    }

    package func add(_ kind: TestIssue.Kind, _ text: String, at place: CodeLocation) {
        add(TestIssue(kind: kind, description: text, place: place))
    }

    package func add(_ issue: TestIssue) {
        state.withLock { $0.issues.append(issue) }
        _ = reporter?.report(.issue(issue))
    }

    // MARK: - Adapters and contracts

    /// Keeps an object of an adapter alive as long as the script.
    package func keep(_ attachment: any Sendable & AnyObject) {
        attachments.withLock { $0.append(attachment) }
    }

    var kept: [any Sendable & AnyObject] { attachments.withLock { $0 } }

    /// The received requests with their answers.
    package var exchanges: [ScriptExchange] {
        let (given, requests) = state.withLock { ($0.given, $0.requests.all) }
        return requests.map { sent in
            let answer = given[sent.number]
            return ScriptExchange(sent: sent, response: answer?.response, place: answer?.place ?? place)
        }
    }

    /// Passes the exchanges to the collector of the task that made the script, once.
    func reportExchanges() {
        guard let collector, ending.scope == nil else { return }
        for issue in collector(exchanges) { add(issue) }
    }
}
