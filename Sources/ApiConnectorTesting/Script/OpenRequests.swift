// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The requests of a script that have not ended, and the calls that wait until there are none.
struct OpenRequests: Sendable {
    /// Those whose bodies are still coming.
    private(set) var arrivals: [Arrival] = []
    private var exchanges: [Int: Exchange] = [:]
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

    mutating func add(_ exchange: Exchange) {
        exchanges[exchange.number] = exchange
    }

    mutating func remove(_ number: Int) {
        exchanges[number] = nil
    }

    subscript(number: Int) -> Exchange? { exchanges[number] }

    /// Those whose bodies have come, in the order of their numbers.
    var inOrder: [Exchange] { exchanges.values.sorted { $0.number < $1.number } }

    mutating func addIdleWaiter(_ waiter: Eventual<Void>) {
        idleWaiters.append(waiter)
    }

    /// The waiters that are told now: all of them if each open request waits for a test, a timeout or a cancel.
    mutating func takeIdleWaiters() -> [Eventual<Void>] {
        guard arrivals.isEmpty, exchanges.values.allSatisfy(\.isWaiting) else { return [] }
        defer { idleWaiters = [] }
        return idleWaiters
    }
}
