// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

extension Script {
    /// Every request so far, in the order in which they came, and what became of each.
    public var requests: [RecordedRequest] { engine.state.withLock { $0.requests.all } }

    /// Waits for the next request that was not returned by this before.
    ///
    /// - Parameter limit: The longest wait; a minute by default.
    /// - Throws: `CancellationError`; an error that says so when no request has come in time.
    public func nextRequest(within limit: Duration = .seconds(60)) async throws -> RecordedRequest {
        let next = Eventual<RecordedRequest>()
        if let early = engine.state.withLock({ $0.requests.next(orTell: next) }) { return early }
        let place = engine.place
        do {
            return try await next.value(within: limit, orSay: "no request reached the script made at \(place)")
        } catch {
            let isWaiting = engine.state.withLock { $0.requests.remove(next) }
            // A request that has come counts as returned.
            if !isWaiting { return await next.value() }
            throw error
        }
    }

    /// Every request as a `curl` command, and what became of it: the same text for the same requests, without secrets.
    public var transcript: String {
        requests.map { "# \($0.number): \($0.outcome)\n\($0.curlCommand)" }.joined(separator: "\n\n")
    }
}
