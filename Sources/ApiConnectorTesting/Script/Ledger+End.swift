// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

extension Ledger {
    /// Everything held against the test so far; at the end also what was declared and not used.
    func verdicts(includingUnused: Bool) -> [Verdict] {
        state.withLock { state in
            state.readCount = state.verdicts.count
            guard includingUnused else { return state.verdicts }
            return state.verdicts + state.declarations.flatMap(VerdictText.unused)
        }
    }

    /// Ends the script: waits for the requests under way, stops those that are left, and answers none from now on.
    func end(scope name: String, waitingUpTo limit: Duration, includingUnused: Bool) async -> [Verdict] {
        await untilIdle(upTo: limit)
        reportToContract()
        let (arrivals, left, held) = state.withLock { state in
            state.endedScope = state.endedScope ?? name
            let arrivals = state.takeArrivals()
            let left = state.exchanges.values.map { ($0, state.requests[$0.number - 1]) }
            return (arrivals, left.sorted { $0.0.number < $1.0.number }, state.declarations)
        }
        ending.note(name, state.withLock { $0.onLateRequest })
        for hold in held.flatMap(\.unreleased) {
            add(.unreleased, VerdictText.unreleased(hold.arrival.current), at: hold.place)
        }
        for (exchange, sent) in left where !exchange.isWaiting {
            add(.unfinished, VerdictText.unfinished(sent, limit), at: place)
        }
        for arrival in arrivals {
            add(.unfinished, VerdictText.unsent(arrival.request, limit), at: place)
            arrival.stopped.set(ApiConnectorError(.cancelled, VerdictText.stopped(name), request: arrival.request))
        }
        for (exchange, sent) in left {
            exchange.stopped.set(ApiConnectorError(.cancelled, VerdictText.stopped(name), request: sent.request))
        }
        return verdicts(includingUnused: includingUnused)
    }

    private func untilIdle(upTo limit: Duration) async {
        let idle = Eventual<Void>()
        state.withLock { $0.idleWaiters.append(idle) }
        releaseIdleWaiters()
        _ = try? await idle.value(within: limit, orSay: "the requests under way did not end")
    }

    /// What a request fails with that came after the end; said where it is seen even if its caller says nothing.
    func refusal(of request: ApiRequest, after scope: String) -> ApiConnectorError {
        ScriptEnding.refusal(of: request, after: scope, state.withLock { $0.onLateRequest })
    }
}

extension Ledger.State {
    /// The requests whose bodies have not come, now the script's as requests that were given up.
    fileprivate mutating func takeArrivals() -> [Arrival] {
        defer { arrivals = [] }
        for arrival in arrivals {
            var sent = SentRequest(number: requests.count + 1, request: arrival.request, body: Data())
            sent.outcome = .cancelled
            requests.append(sent)
        }
        return arrivals
    }
}

/// Where a text goes that nobody else is left to read.
enum StandardError {
    static func write(_ text: String) {
        FileHandle.standardError.write(Data("ApiConnectorTesting: \(text)\n".utf8))
    }
}
