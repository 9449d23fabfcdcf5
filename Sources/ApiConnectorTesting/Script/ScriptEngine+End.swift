// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

extension ScriptEngine {
    /// All issues so far.
    func issues(includingUnused: Bool) -> [TestIssue] {
        state.withLock { state in
            state.readCount = state.issues.count
            guard includingUnused else { return state.issues }
            return state.issues + state.declarations.all.flatMap(IssueText.unused)
        }
    }

    /// Ends the script: waits for running requests, stops those that have not ended in time, and refuses later
    /// requests.
    package func end(scope name: String, waitingUpTo limit: Duration, includingUnused: Bool) async -> [TestIssue] {
        await untilIdle(upTo: limit)
        reportExchanges()
        let (arrivals, left, declared) = state.withLock { state in
            ending.note(name)
            let arrivals = state.open.removeArrivals()
            for arrival in arrivals { state.requests.addCanceled(arrival.request) }
            let left = state.open.inOrder.map { ($0, state.requests[$0.number]) }
            return (arrivals, left, state.declarations.all)
        }
        for hold in declared.flatMap(\.unreleased) {
            add(.unreleased, IssueText.unreleased(hold.arrival.current), at: hold.place)
        }
        for (exchange, sent) in left where !exchange.isWaiting {
            add(.unfinished, IssueText.unfinished(sent, limit), at: place)
        }
        for arrival in arrivals {
            add(.unfinished, IssueText.unsent(arrival.request, limit), at: place)
            arrival.stopped.set(ApiConnectorError(.cancelled, IssueText.stopped(name), request: arrival.request))
        }
        for (exchange, sent) in left {
            exchange.stopped.set(ApiConnectorError(.cancelled, IssueText.stopped(name), request: sent.request))
        }
        return issues(includingUnused: includingUnused)
    }

    private func untilIdle(upTo limit: Duration) async {
        let idle = Eventual<Void>()
        state.withLock { $0.open.addIdleWaiter(idle) }
        releaseIdleWaiters()
        _ = try? await idle.value(within: limit, orSay: "the requests under way did not end")
    }
}

/// Writes to standard error, for texts that appear nowhere else.
package enum StandardError {
    package static func write(_ text: String) {
        FileHandle.standardError.write(Data("ApiConnectorTesting: \(text)\n".utf8))
    }
}
