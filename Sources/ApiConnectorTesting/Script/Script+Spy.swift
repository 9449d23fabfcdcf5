// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

extension Script {
    /// Every request so far, in the order in which they came, and what became of each.
    public var requests: [SentRequest] { ledger.state.withLock { $0.requests } }

    /// Waits for the next request that was not handed out by this before.
    ///
    /// - Parameter limit: The longest wait; a minute by default.
    /// - Throws: `CancellationError`; an error that says so when no request has come in time.
    public func nextRequest(within limit: Duration = .seconds(60)) async throws -> SentRequest {
        let next = Eventual<SentRequest>()
        let early = ledger.state.withLock { state -> SentRequest? in
            guard state.announcedCount < state.requests.count else {
                state.watchers.append(next)
                return nil
            }
            defer { state.announcedCount += 1 }
            return state.requests[state.announcedCount]
        }
        if let early { return early }
        let place = ledger.place
        do {
            return try await next.value(within: limit, orSay: "no request came to the script made at \(place)")
        } catch {
            let hasCome = ledger.state.withLock { state in
                defer { state.watchers.removeAll { $0 === next } }
                return !state.watchers.contains { $0 === next }
            }
            // It counts as handed out from then on.
            if hasCome { return await next.value() }
            throw error
        }
    }

    /// Every request as a `curl` command, and what became of it: the same text for the same requests, without secrets.
    public var transcript: String {
        requests.map { "# \($0.number): \($0.outcome)\n\($0.curlCommand)" }.joined(separator: "\n\n")
    }
}
