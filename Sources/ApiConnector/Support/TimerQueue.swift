// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Runs actions at their times on one time source.
///
/// Only the next action is scheduled on the source.
///
/// Adding an entry takes O(log *n*) in the number of entries. Removing one takes amortized O(1).
final class TimerQueue: Sendable {
    struct Entry: Sendable {
        fileprivate let number: Int
    }

    private struct State {
        var heap = DueTimeHeap()
        var actions: [Int: @Sendable () -> Void] = [:]
        var nextNumber = 0
        var sleeper: (due: Duration, cancel: @Sendable () -> Void)?
    }

    /// The queue of all connections that use the system's clocks.
    static let system = TimerQueue(SystemTimeSource())

    let timeSource: any TimeSource
    private let sharedSource: ObjectIdentifier?
    private let state = Locked(State())

    /// Identifies the scale of this queue's times while the queue lives.
    ///
    /// Queues whose time source is the same object share a scale. Any other queue has its own.
    var scale: ObjectIdentifier { sharedSource ?? ObjectIdentifier(self) }

    /// The number of actions that wait.
    var entryCount: Int { state.withLock { $0.actions.count } }

    private init(_ timeSource: any TimeSource) {
        self.timeSource = timeSource
        sharedSource = type(of: timeSource) is AnyClass ? ObjectIdentifier(timeSource as AnyObject) : nil
    }

    deinit {
        state.withLock { $0.sleeper?.cancel }?()
    }

    /// A queue on a time source: a shared queue for the system's clocks, a new queue for any other source.
    static func on(_ timeSource: any TimeSource) -> TimerQueue {
        timeSource is SystemTimeSource ? system : TimerQueue(timeSource)
    }

    /// Runs an action at its due time, or immediately if that time has passed, unless the entry is removed first.
    func add(at due: Duration, _ action: @escaping @Sendable () -> Void) -> Entry {
        let (entry, replaced) = state.withLock { state in
            let number = state.nextNumber
            state.nextNumber += 1
            state.actions[number] = action
            state.heap.push(due, number)
            return (Entry(number: number), sleepIfNeeded(&state))
        }
        replaced?()
        return entry
    }

    /// Removes an entry; does nothing if it has run.
    func remove(_ entry: Entry) {
        state.withLock { state in
            guard state.actions.removeValue(forKey: entry.number) != nil else { return }
            let actions = state.actions
            if state.heap.count > 64, state.heap.count > 2 * actions.count {
                state.heap.removeAll { actions[$0] == nil }
            }
        }
    }

    /// - Returns: A function that cancels a timer that is no longer needed; call it outside the lock.
    private func sleepIfNeeded(_ state: inout State) -> (@Sendable () -> Void)? {
        guard let due = state.heap.first, due < state.sleeper?.due ?? .seconds(Int64.max) else { return nil }
        let replaced = state.sleeper?.cancel
        state.sleeper = (due, timeSource.schedule(at: due) { [weak self] in self?.runDue() })
        return replaced
    }

    private func runDue() {
        let now = timeSource.now
        let (due, replaced) = state.withLock { state in
            var due: [@Sendable () -> Void] = []
            while let first = state.heap.first, first <= now {
                let number = state.heap.pop()
                if let action = state.actions.removeValue(forKey: number) { due.append(action) }
            }
            let replaced = state.sleeper.take()?.cancel
            _ = sleepIfNeeded(&state)
            return (due, replaced)
        }
        // Usually cancels the timer that called this function. If a replaced timer called it late, this cancels the
        // timer that replaced it.
        replaced?()
        for action in due { action() }
    }
}

/// A binary heap of due times, with the earliest first.
private struct DueTimeHeap {
    private var items: [(due: Duration, number: Int)] = []

    var count: Int { items.count }
    var first: Duration? { items.first?.due }

    mutating func push(_ due: Duration, _ number: Int) {
        items.append((due, number))
        var child = items.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard items[child].due < items[parent].due else { return }
            items.swapAt(child, parent)
            child = parent
        }
    }

    /// Removes the earliest entry of a heap that is not empty.
    mutating func pop() -> Int {
        items.swapAt(0, items.count - 1)
        let number = items.removeLast().number
        sink(0)
        return number
    }

    mutating func removeAll(where isStale: (Int) -> Bool) {
        items.removeAll { isStale($0.number) }
        for index in (0..<items.count / 2).reversed() { sink(index) }
    }

    private mutating func sink(_ index: Int) {
        var parent = index
        while true {
            let left = 2 * parent + 1
            guard left < items.count else { return }
            let right = left + 1
            let child = right < items.count && items[right].due < items[left].due ? right : left
            guard items[child].due < items[parent].due else { return }
            items.swapAt(child, parent)
            parent = child
        }
    }
}
