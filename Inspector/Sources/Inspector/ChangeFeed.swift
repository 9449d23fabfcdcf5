// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Foundation
import Synchronization

/// Records for each open page the exchanges that have changed since the page's last update.
///
/// If no page is open, it stores nothing and wakes no task.
final class ChangeFeed: Sendable {
    private struct Reader {
        var numbers: Set<Int> = []
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let readers = Mutex<[UUID: Reader]>([:])
    private let hasReaders = Atomic(false)

    /// Records that an exchange has changed.
    func add(_ number: Int) {
        guard hasReaders.load(ordering: .relaxed) else { return }
        let waiters = readers.withLock { readers in
            var waiters: [CheckedContinuation<Void, Never>] = []
            for id in readers.keys {
                readers[id]?.numbers.insert(number)
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
                guard let reader = readers[id] else { return nil }
                defer { readers[id]?.numbers = [] }
                return reader.numbers.sorted()
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
