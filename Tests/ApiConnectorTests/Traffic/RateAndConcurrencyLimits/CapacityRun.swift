// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTesting

@testable import ApiConnector
@testable import ApiConnectorTraffic

/// Clients that always have requests to send, and a server of known capacity, in virtual time.
///
/// A round trip takes about 1 second. The server refuses requests above its capacity with 429, or serves all and gets
/// slower.
struct CapacityRun {
    enum Server {
        case refusing, queuing
    }

    private struct Client {
        var queue: LimitQueue
        var inFlightCount = 0
    }

    private struct Exchange {
        let client: Int
        let number: Int
        let isAccepted: Bool
        let end: Duration
    }

    private let server: Server
    private let waiter: LimitWaiter
    private var clients: [Client]
    private var capacity: Int
    /// In the order of their ends.
    private var exchanges: [Exchange] = []
    private var acceptedCount = 0
    private var now: Duration = .zero
    private var random: SplitMix64

    init(_ limits: [RequestLimit.Concurrency], _ server: Server, capacity: Int, seed: UInt64) {
        self.server = server
        self.capacity = capacity
        waiter = LimitWaiter(.made(on: TimerQueue.on(ManualClock())))
        random = SplitMix64(seed: seed)
        clients = limits.map { Client(queue: LimitQueue(RequestLimit(concurrent: $0))) }
        for index in clients.indices {
            for _ in 0..<50 { clients[index].queue.enter(waiter) }
        }
    }

    /// Changes the server's capacity.
    mutating func change(capacity: Int) {
        self.capacity = capacity
    }

    /// Runs some round trips.
    ///
    /// - Returns: For each round trip the most requests that each client had in flight.
    mutating func run(roundTrips: Int) -> [[Int]] {
        var counts: [[Int]] = []
        for _ in 0..<roundTrips {
            let end = now + .seconds(1)
            var most = clients.map(\.inFlightCount)
            repeat {
                for index in clients.indices.shuffled(using: &random) {
                    start(index)
                    most[index] = max(most[index], clients[index].inFlightCount)
                }
                guard let exchange = exchanges.first, exchange.end <= end else { break }
                exchanges.removeFirst()
                finish(exchange)
            } while true
            now = end
            counts.append(most)
        }
        return counts
    }

    private mutating func start(_ index: Int) {
        for (_, number) in clients[index].queue.turn(now: now).started {
            clients[index].queue.enter(waiter)
            clients[index].inFlightCount += 1
            let isAccepted = server == .queuing || acceptedCount < capacity
            if isAccepted { acceptedCount += 1 }
            let queue = server == .queuing ? max(Double(acceptedCount) / Double(capacity), 1) : 1
            let end = now + .seconds(queue * Double.random(in: 0.9...1.1, using: &random))
            let place = exchanges.lastIndex { $0.end <= end }.map { $0 + 1 } ?? 0
            exchanges.insert(Exchange(client: index, number: number, isAccepted: isAccepted, end: end), at: place)
        }
        // As many wait as could start.
        for _ in clients[index].queue.waiterCount..<50 { clients[index].queue.enter(waiter) }
    }

    private mutating func finish(_ exchange: Exchange) {
        now = max(now, exchange.end)
        if exchange.isAccepted { acceptedCount -= 1 }
        clients[exchange.client].inFlightCount -= 1
        clients[exchange.client].queue.answer(
            exchange.number,
            exchange.isAccepted ? .success : .overload,
            nil,
            now: now
        )
        clients[exchange.client].queue.finish()
    }
}
