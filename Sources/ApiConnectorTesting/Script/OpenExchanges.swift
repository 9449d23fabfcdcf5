// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The open exchanges of a script, and the tasks that wait for their ends.
package struct OpenExchanges: Sendable {
    /// The requests whose bodies are still arriving.
    private(set) var arrivals: [Arrival] = []
    private var exchanges: [Int: OpenExchange] = [:]
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

    mutating func add(_ exchange: OpenExchange) {
        exchanges[exchange.number] = exchange
    }

    mutating func remove(_ number: Int) {
        exchanges[number] = nil
    }

    package subscript(number: Int) -> OpenExchange? { exchanges[number] }

    /// The exchanges whose request bodies are complete, by number.
    package var inOrder: [OpenExchange] { exchanges.values.sorted { $0.number < $1.number } }

    mutating func addIdleWaiter(_ waiter: Eventual<Void>) {
        idleWaiters.append(waiter)
    }

    /// Removes the waiters to resume: all of them if each open exchange waits for the test, a timeout or a cancel.
    mutating func takeIdleWaiters() -> [Eventual<Void>] {
        guard arrivals.isEmpty, exchanges.values.allSatisfy(\.isWaiting) else { return [] }
        defer { idleWaiters = [] }
        return idleWaiters
    }
}
