// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The requests of a script, and the waiting calls of `nextRequest`.
struct RequestLog: Sendable {
    private(set) var all: [RecordedRequest] = []
    private var announcedCount = 0
    private var watchers: [Eventual<RecordedRequest>] = []

    var nextNumber: Int { all.count + 1 }

    /// Adds a request.
    ///
    /// - Returns: The waiter for the request; nil if there is none.
    mutating func add(_ sent: RecordedRequest) -> Eventual<RecordedRequest>? {
        all.append(sent)
        guard !watchers.isEmpty else { return nil }
        announcedCount += 1
        return watchers.removeFirst()
    }

    /// Adds a request that was canceled before its body had arrived.
    ///
    /// Does not resume a waiter.
    mutating func addCanceled(_ request: ApiRequest) {
        var sent = RecordedRequest(number: nextNumber, request: request, body: Data())
        sent.outcome = .cancelled
        all.append(sent)
    }

    mutating func end(_ number: Int, _ outcome: RecordedRequest.Outcome) {
        all[number - 1].outcome = outcome
    }

    subscript(number: Int) -> RecordedRequest { all[number - 1] }

    /// Returns the next request that the method has not yet returned.
    ///
    /// If there is none, the watcher gets the next request when it arrives.
    mutating func next(orTell watcher: Eventual<RecordedRequest>) -> RecordedRequest? {
        guard announcedCount < all.count else {
            watchers.append(watcher)
            return nil
        }
        defer { announcedCount += 1 }
        return all[announcedCount]
    }

    /// Removes a watcher.
    ///
    /// - Returns: Whether the watcher was still waiting.
    mutating func remove(_ watcher: Eventual<RecordedRequest>) -> Bool {
        defer { watchers.removeAll { $0 === watcher } }
        return watchers.contains { $0 === watcher }
    }
}
