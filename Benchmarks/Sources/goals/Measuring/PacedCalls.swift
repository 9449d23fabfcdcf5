// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Synchronization

/// Calls that are due at fixed times.
///
/// The latency of a call counts from the time when the call was due. So a pause of a second delays every call of that
/// second, not only the call that was running.
enum PacedCalls {
    private final class Log: Sendable {
        private let state = Mutex((milliseconds: [Double](), error: (any Error)?.none))

        var milliseconds: [Double] { state.withLock { $0.milliseconds } }
        var error: (any Error)? { state.withLock { $0.error } }

        func add(milliseconds: Double) {
            state.withLock { $0.milliseconds.append(milliseconds) }
        }

        func fail(with error: any Error) {
            state.withLock { $0.error = error }
        }
    }

    /// Returns the latency of each call, in milliseconds.
    ///
    /// - Parameters:
    ///   - grace: The time by which calls may be late. A call that has not ended by then counts with its latency until
    ///     that moment.
    @concurrent
    static func milliseconds(
        every interval: Duration,
        for duration: Duration,
        grace: Duration,
        _ action: @escaping @Sendable () async throws -> Void
    ) async throws -> [Double] {
        let clock = ContinuousClock()
        let count = Int(duration / interval)
        let log = Log()
        let start = clock.now
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for index in 0..<count {
                    let due = start + interval * index
                    do {
                        if clock.now < due { try await clock.sleep(until: due, tolerance: .zero) }
                        try await action()
                        log.add(milliseconds: (clock.now - due).seconds * 1e3)
                    } catch {
                        return log.fail(with: error)
                    }
                }
            }
            group.addTask { try? await clock.sleep(until: start + duration + grace) }
            await group.next()
            // This cancels and so ends a call that hangs.
            group.cancelAll()
        }
        let end = clock.now
        // After the grace period, the error comes from the canceled call.
        if let error = log.error, end < start + duration + grace { throw error }
        let ended = log.milliseconds
        return ended + (ended.count..<count).map { (end - (start + interval * $0)).seconds * 1e3 }
    }
}

extension [Double] {
    /// The smallest value that a share of all values does not exceed; 0 if there are no values.
    func quantile(_ share: Double) -> Double {
        let sorted = sorted()
        guard let last = sorted.last else { return 0 }
        let place = Int((share * Double(sorted.count)).rounded(.up)) - 1
        return sorted.indices.contains(place) ? sorted[place] : last
    }
}
