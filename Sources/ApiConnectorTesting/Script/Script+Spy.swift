// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

extension Script {
    /// All requests so far, in order of arrival, each with its outcome.
    public var requests: [RecordedRequest] { engine.state.withLock { $0.requests.all } }

    /// Waits for the next request that this method has not returned before.
    ///
    /// - Parameter limit: The longest wait; one minute by default.
    /// - Throws: `CancellationError` if the task is canceled; another error if no request arrives in time.
    public func nextRequest(within limit: Duration = .seconds(60)) async throws -> RecordedRequest {
        let next = Eventual<RecordedRequest>()
        if let early = engine.state.withLock({ $0.requests.next(orTell: next) }) { return early }
        let place = engine.place
        do {
            return try await next.value(within: limit, orSay: "no request reached the script made at \(place)")
        } catch {
            let isWaiting = engine.state.withLock { $0.requests.remove(next) }
            // If the request has already arrived, it counts as returned, so this call must return it.
            if !isWaiting { return await next.value() }
            throw error
        }
    }

    /// All requests as `curl` commands with their outcomes, without secrets.
    ///
    /// Equal requests give equal texts.
    public var transcript: String {
        requests.map { "# \($0.number): \($0.outcome)\n\($0.curlCommand)" }.joined(separator: "\n\n")
    }
}
