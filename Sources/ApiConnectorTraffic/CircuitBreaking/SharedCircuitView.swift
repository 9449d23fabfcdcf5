// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// An instance's view of the record of a shared circuit: a state machine that gets the time as an argument.
///
/// The record has data while the circuit is open. The data's lifetime is the open duration, so that it ends for all
/// instances at the same time, by the store's clock. An instance that closes the circuit makes a new version without
/// data.
struct SharedCircuitView {
    /// The change that a record reports.
    enum News: Equatable {
        case nothing
        /// Another instance has opened the circuit.
        case opened
        /// The open duration is over, so one instance may send a trial request.
        case isOver
        /// Another instance has closed the circuit.
        case closed
    }

    /// The version of the last record that this instance has written, or has read while the circuit was open.
    private var version: UInt64 = 0
    /// Whether that version opened the circuit.
    private var isOpening = false
    private var isLooking = false
    /// Whether this instance has learned of a newer record during a look.
    private var isLookOutdated = false
    private var nextLookTime: Duration = .zero
    private var backoff = SharedStateBackoff()

    /// Whether the shared state is unavailable.
    var isAway: Bool { backoff.isAway }

    /// Whether to read the record now; ``see(_:now:interval:)`` ends the look.
    mutating func beginLook(now: Duration) -> Bool {
        guard !isLooking, nextLookTime <= now else { return false }
        isLooking = true
        return true
    }

    /// Records the end of a look.
    ///
    /// - Parameter record: The record; nil if the shared state is unavailable.
    mutating func see(_ record: SharedRecord?, now: Duration, interval: Duration) -> News {
        isLooking = false
        let isOutdated = isLookOutdated
        isLookOutdated = false
        guard let record else {
            fail(now: now)
            return .nothing
        }
        backoff.succeed()
        nextLookTime = now + interval
        return isOutdated ? .nothing : learn(record)
    }

    /// Updates the view from a record, and returns the change.
    mutating func learn(_ record: SharedRecord) -> News {
        if record.data != nil {
            if isOpening, record.version == version { return .nothing }
            (version, isOpening) = (record.version, true)
            return .opened
        }
        guard isOpening else { return .nothing }
        if record.version == version { return .isOver }
        isOpening = false
        // If the store has lost the record, the instance continues with its own circuit.
        return record.version > version ? .closed : .nothing
    }

    /// Records that an operation failed.
    mutating func fail(now: Duration) {
        backoff.fail(now: now)
        nextLookTime = backoff.end
    }

    /// Records that an operation succeeded.
    mutating func succeed() { backoff.succeed() }

    /// Whether the store can be asked for the right to send a trial request.
    func mayAsk(now: Duration) -> Bool { backoff.isOver(now: now) }

    /// Records that this instance or another has written a version of the record.
    mutating func know(_ version: UInt64, isOpening: Bool) {
        (self.version, self.isOpening) = (version, isOpening)
        isLookOutdated = isLooking
    }

    /// Whether this instance has to write the record to open or close the circuit.
    mutating func mustWrite(over record: SharedRecord, toOpen: Bool) -> Bool {
        let isOwn = isOpening && record.version == version
        guard toOpen else { return record.data != nil || isOwn }
        guard record.data != nil, !isOwn else { return true }
        // Another instance has already opened the circuit.
        know(record.version, isOpening: true)
        return false
    }
}
