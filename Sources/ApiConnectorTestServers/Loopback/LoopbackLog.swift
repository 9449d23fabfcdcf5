// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The requests and errors of one server's connections, with the waiters for requests.
final class LoopbackLog: Sendable {
    private struct State {
        var requests: [LoopbackRequest] = []
        var errors: [any Error] = []
        var arrivals: [Int: Gate] = [:]
        var isClosed = false
    }

    private let limit: Duration
    private let state = Locked(State())

    /// The gate that opens as soon as the server stops.
    ///
    /// A script that waits for any gate also waits for this one, so that its wait ends when the server stops.
    let stopped = Gate("end of the loopback server")

    init(guardedFor limit: Duration) {
        self.limit = limit
    }

    var requests: [LoopbackRequest] { state.withLock { $0.requests } }

    var errors: [any Error] { state.withLock { $0.errors } }

    func append(_ request: LoopbackRequest) {
        let arrival = state.withLock { state in
            state.requests.append(request)
            return state.arrivals.removeValue(forKey: state.requests.count - 1)
        }
        arrival?.open()
    }

    /// Records an error, except errors that only report the end of a connection.
    func append(_ error: any Error) {
        if let error = error as? LoopbackError, [.peerGone, .serverStopped, .connectionClosed].contains(error) {
            return
        }
        state.withLock { $0.errors.append(error) }
    }

    func request(_ number: Int) async throws -> LoopbackRequest {
        do {
            try await arrival(of: number)?.opened()
        } catch is LoopbackError {
            throw LoopbackError.timedOut(
                "Request \(number), counted from 0, did not arrive within \(limit); \(requests.count) arrived"
            )
        }
        let requests = requests
        guard requests.indices.contains(number) else { throw LoopbackError.serverStopped }
        return requests[number]
    }

    /// Ends the waits for requests that have not arrived.
    func close() {
        stopped.open()
        let arrivals = state.withLock { state in
            state.isClosed = true
            defer { state.arrivals = [:] }
            return state.arrivals.values
        }
        for arrival in arrivals { arrival.open() }
    }

    private func arrival(of number: Int) -> Gate? {
        state.withLock { state in
            guard !state.requests.indices.contains(number), !state.isClosed else { return nil }
            if let gate = state.arrivals[number] { return gate }
            let gate = Gate("arrival of request \(number)", guardedFor: limit)
            state.arrivals[number] = gate
            return gate
        }
    }
}
