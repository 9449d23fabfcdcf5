// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Foundation
import Synchronization

/// Records for each open page the exchanges that have changed since the page's last update.
///
/// If no page is open, it stores nothing and wakes no task. For a page that does not read, it stores the numbers of at
/// most twice as many exchanges as the archive keeps.
final class ChangeFeed: Sendable {
    private struct Reader {
        private(set) var numbers: Set<Int> = []
        private var newest = 0
        var waiter: CheckedContinuation<Void, Never>?

        /// Adds a number, and removes the numbers of exchanges that the archive no longer keeps.
        mutating func add(_ number: Int, keeping count: Int) {
            newest = max(newest, number)
            guard number > newest - count else { return }
            numbers.insert(number)
            // With twice the room, the removal takes constant time per number on average.
            if numbers.count > 2 * count { numbers = numbers.filter { $0 > newest - count } }
        }

        mutating func take() -> [Int] {
            defer { numbers = [] }
            return numbers.sorted()
        }
    }

    private let exchangeCount: Int
    private let readers = Mutex<[UUID: Reader]>([:])
    private let hasReaders = Atomic(false)

    /// Makes a feed for an archive that keeps up to a number of exchanges.
    init(exchangeCount: Int) {
        self.exchangeCount = max(exchangeCount, 1)
    }

    /// The number of stored numbers of all pages.
    var storedCount: Int { readers.withLock { $0.values.reduce(0) { $0 + $1.numbers.count } } }

    /// Records that an exchange has changed.
    func add(_ number: Int) {
        guard hasReaders.load(ordering: .relaxed) else { return }
        let waiters = readers.withLock { readers in
            var waiters: [CheckedContinuation<Void, Never>] = []
            for id in readers.keys {
                readers[id]?.add(number, keeping: exchangeCount)
                if let waiter = readers[id]?.waiter { waiters.append(waiter) }
                readers[id]?.waiter = nil
            }
            return waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Records that a page was opened.
    func open() -> UUID {
        let id = UUID()
        readers.withLock { readers in
            readers[id] = Reader()
            hasReaders.store(true, ordering: .relaxed)
        }
        return id
    }

    /// Records that a page was closed.
    func close(_ id: UUID) {
        let waiter = readers.withLock { readers in
            let reader = readers.removeValue(forKey: id)
            hasReaders.store(!readers.isEmpty, ordering: .relaxed)
            return reader?.waiter
        }
        waiter?.resume()
    }

    /// Waits until exchanges have changed, and returns their numbers; nil after the page was closed.
    func next(_ id: UUID) async -> [Int]? {
        while true {
            let numbers = readers.withLock { readers -> [Int]? in
                readers[id]?.take()
            }
            guard let numbers else { return nil }
            guard numbers.isEmpty else { return numbers }
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let isReady = readers.withLock { readers in
                        guard let reader = readers[id], reader.numbers.isEmpty else { return true }
                        readers[id]?.waiter = continuation
                        return false
                    }
                    if isReady { continuation.resume() }
                }
            } onCancel: {
                close(id)
            }
        }
    }
}
