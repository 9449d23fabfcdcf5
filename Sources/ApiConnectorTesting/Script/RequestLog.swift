// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The requests of a script, and the calls of `nextRequest` that wait for one.
struct RequestLog: Sendable {
    private(set) var all: [RecordedRequest] = []
    private var announcedCount = 0
    private var watchers: [Eventual<RecordedRequest>] = []

    var nextNumber: Int { all.count + 1 }

    /// Adds a request.
    ///
    /// - Returns: Who waits for it; nil for nobody.
    mutating func add(_ sent: RecordedRequest) -> Eventual<RecordedRequest>? {
        all.append(sent)
        guard !watchers.isEmpty else { return nil }
        announcedCount += 1
        return watchers.removeFirst()
    }

    /// Adds a request that was canceled before its body had come; nobody is told of it.
    mutating func addCancelled(_ request: ApiRequest) {
        var sent = RecordedRequest(number: nextNumber, request: request, body: Data())
        sent.outcome = .cancelled
        all.append(sent)
    }

    mutating func end(_ number: Int, _ outcome: RecordedRequest.Outcome) {
        all[number - 1].outcome = outcome
    }

    subscript(number: Int) -> RecordedRequest { all[number - 1] }

    /// The next request that was not returned by this before; without one, the watcher gets it when it comes.
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
    /// - Returns: Whether it still waited.
    mutating func remove(_ watcher: Eventual<RecordedRequest>) -> Bool {
        defer { watchers.removeAll { $0 === watcher } }
        return watchers.contains { $0 === watcher }
    }
}
