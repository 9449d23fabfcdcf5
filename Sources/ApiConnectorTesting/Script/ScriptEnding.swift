// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector

/// Records whether a script has ended, and makes the errors for later requests.
///
/// It outlives the script.
package final class ScriptEnding: Sendable {
    private struct State {
        var scope: String?
        var onLateRequest: (@Sendable (String) -> Void)?
    }

    private let state = Locked(State())

    /// The name of the ended scope; nil before the end.
    var scope: String? { state.withLock { $0.scope } }

    /// Sets a closure that records the error text of each request that arrives after the end.
    func onLateRequest(_ record: @escaping @Sendable (String) -> Void) {
        state.withLock { $0.onLateRequest = record }
    }

    /// Records the name of the ended scope.
    ///
    /// Only the first name counts.
    package func note(_ scope: String) {
        state.withLock { $0.scope = $0.scope ?? scope }
    }

    /// The error for a request; nil before the script's end.
    package func refusal(of request: ApiRequest) -> ApiConnectorError? {
        scope.map { refusal(of: request, after: $0) }
    }

    /// The error for a request that arrived after the script's end.
    ///
    /// The text is also printed, because the caller may not show the error.
    package func refusal(of request: ApiRequest, after scope: String) -> ApiConnectorError {
        let text = IssueText.late(scope)
        StandardError.write("\(request): \(text).")
        let record = state.withLock { $0.onLateRequest }
        record?("\(request): \(text).")
        return ApiConnectorError(.unmatched, text, request: request)
    }
}

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
