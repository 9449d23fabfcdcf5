// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The calls that wait for a connection, in order; this type does not call libcurl itself.
///
/// A waiting call has no easy handle, which takes 45 KB. libcurl itself counts the connections. One call may run per
/// connection. If a server has responded over HTTP/2, 100 may run, which is libcurl's maximum per connection.
struct CurlWaitingLine<Call> {
    /// A group of calls that count for the same limits.
    struct Lane: Hashable {
        /// Whether HTTP/2 may carry many such calls on one connection.
        var mayMultiplex: Bool
        /// The host and port; empty if there is no limit per host.
        var host = ""
    }

    /// The maximum number of calls that libcurl sends on one HTTP/2 connection.
    static var multiplexedCount: Int { 100 }

    private let maximumConnectionCount: Int?
    private let maximumConnectionCountPerHost: Int?
    private var runningCounts: [Lane: Int] = [:]
    /// The running calls, by whether they may multiplex.
    private var totals = [false: 0, true: 0]
    private var waiting: [Lane: Queue] = [:]
    /// The lanes whose calls share connections.
    private var shared: Set<Lane> = []
    private var nextNumber = 0
    private(set) var waitingCount = 0

    private struct Queue {
        var calls: [(number: Int, call: Call)?] = []
        var start = 0

        var first: (number: Int, call: Call)? { start < calls.count ? calls[start] : nil }

        mutating func removeFirst() {
            calls[start] = nil
            start += 1
            guard start * 2 > calls.count else { return }
            calls.removeFirst(start)
            start = 0
        }
    }

    init(maximumConnectionCount: Int?, maximumConnectionCountPerHost: Int?) {
        self.maximumConnectionCount = maximumConnectionCount
        self.maximumConnectionCountPerHost = maximumConnectionCountPerHost
    }

    /// Whether there is any limit.
    var isLimited: Bool { maximumConnectionCount != nil || maximumConnectionCountPerHost != nil }

    /// Whether there is a limit per host.
    var countsHosts: Bool { maximumConnectionCountPerHost != nil }

    /// Adds a call.
    ///
    /// - Returns: Whether the call may start; otherwise it waits.
    mutating func enter(_ call: Call, _ lane: Lane) -> Bool {
        guard waiting[lane] != nil || !hasRoom(lane) else {
            start(lane)
            return true
        }
        waiting[lane, default: Queue()].calls.append((nextNumber, call))
        nextNumber += 1
        waitingCount += 1
        return false
    }

    /// Records that a server has responded over HTTP/2, so that more calls of the lane may run.
    ///
    /// Without a limit per host, all hosts share a lane.
    ///
    /// - Returns: Whether this is new.
    mutating func share(_ lane: Lane) -> Bool {
        lane.mayMultiplex && shared.insert(lane).inserted
    }

    /// Records that a started call has ended.
    mutating func leave(_ lane: Lane) {
        totals[lane.mayMultiplex, default: 0] -= 1
        let count = (runningCounts[lane] ?? 0) - 1
        runningCounts[lane] = count > 0 ? count : nil
    }

    /// The call that has waited longest and that may run; it counts as started.
    mutating func next() -> (call: Call, lane: Lane)? {
        guard waitingCount > 0 else { return nil }
        var oldest: (number: Int, call: Call, lane: Lane)?
        for (lane, queue) in waiting where hasRoom(lane) {
            guard let first = queue.first, first.number < oldest?.number ?? .max else { continue }
            oldest = (first.number, first.call, lane)
        }
        guard let oldest else { return nil }
        waiting[oldest.lane]?.removeFirst()
        if waiting[oldest.lane]?.first == nil { waiting[oldest.lane] = nil }
        waitingCount -= 1
        start(oldest.lane)
        return (oldest.call, oldest.lane)
    }

    /// Removes the calls that satisfy a predicate.
    mutating func removeAll(where isToBeRemoved: (Call) -> Bool) -> [Call] {
        var removed: [Call] = []
        for (lane, queue) in waiting {
            var kept = Queue()
            for entry in queue.calls[queue.start...].compactMap({ $0 }) {
                if isToBeRemoved(entry.call) { removed.append(entry.call) } else { kept.calls.append(entry) }
            }
            waiting[lane] = kept.calls.isEmpty ? nil : kept
        }
        waitingCount -= removed.count
        return removed
    }

    private mutating func start(_ lane: Lane) {
        totals[lane.mayMultiplex, default: 0] += 1
        runningCounts[lane, default: 0] += 1
    }

    private func hasRoom(_ lane: Lane) -> Bool {
        let factor = shared.contains(lane) ? Self.multiplexedCount : 1
        if let limit = maximumConnectionCount, (totals[lane.mayMultiplex] ?? 0) >= product(limit, factor) {
            return false
        }
        if let limit = maximumConnectionCountPerHost, (runningCounts[lane] ?? 0) >= product(limit, factor) {
            return false
        }
        return true
    }

    /// For libcurl, a limit of 0 or less means no limit.
    private func product(_ limit: Int, _ factor: Int) -> Int {
        guard limit > 0 else { return .max }
        let (product, hasOverflown) = limit.multipliedReportingOverflow(by: factor)
        return hasOverflown ? .max : product
    }
}
