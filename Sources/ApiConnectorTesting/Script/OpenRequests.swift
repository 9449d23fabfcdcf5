// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The running requests of a script, and the tasks that wait for their ends.
struct OpenRequests: Sendable {
    /// The requests whose bodies are still arriving.
    private(set) var arrivals: [Arrival] = []
    private var exchanges: [Int: OpenRequest] = [:]
    private var idleWaiters: [Eventual<Void>] = []

    mutating func add(_ arrival: Arrival) {
        arrivals.append(arrival)
    }

    func contains(_ arrival: Arrival) -> Bool {
        arrivals.contains { $0 === arrival }
    }

    mutating func remove(_ arrival: Arrival) {
        arrivals.removeAll { $0 === arrival }
    }

    mutating func removeArrivals() -> [Arrival] {
        defer { arrivals = [] }
        return arrivals
    }

    mutating func add(_ exchange: OpenRequest) {
        exchanges[exchange.number] = exchange
    }

    mutating func remove(_ number: Int) {
        exchanges[number] = nil
    }

    subscript(number: Int) -> OpenRequest? { exchanges[number] }

    /// The requests with complete bodies, by number.
    var inOrder: [OpenRequest] { exchanges.values.sorted { $0.number < $1.number } }

    mutating func addIdleWaiter(_ waiter: Eventual<Void>) {
        idleWaiters.append(waiter)
    }

    /// Removes the waiters to resume: all of them if each open request waits for the test, a timeout or a cancel.
    mutating func takeIdleWaiters() -> [Eventual<Void>] {
        guard arrivals.isEmpty, exchanges.values.allSatisfy(\.isWaiting) else { return [] }
        defer { idleWaiters = [] }
        return idleWaiters
    }
}
