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
        /// The open duration is over, so one instance may send a trial request; reported once.
        case isOver
        /// Another instance has closed the circuit.
        case closed
    }

    /// The version of the last record that this instance has written, or has read while the circuit was open.
    private var version: UInt64 = 0
    /// Whether that version opened the circuit.
    private var isOpening = false
    /// Whether this instance knows that the open duration of that version is over.
    private var isOver = false
    private var isLooking = false
    /// Whether this instance has learned of a newer record, or begun to write one, during a look.
    private var isLookOutdated = false
    private var nextLookTime: Duration = .zero
    private var backoff = SharedStateBackoff()

    /// Whether the shared state is unavailable.
    var isAway: Bool { backoff.isAway }

    /// Whether to read the record now; ``see(_:now:)`` ends the look.
    ///
    /// - Parameter interval: The shortest time from the start of this look to the next one.
    mutating func beginLook(now: Duration, interval: Duration) -> Bool {
        guard !isLooking, nextLookTime <= now else { return false }
        isLooking = true
        nextLookTime = now + interval
        return true
    }

    /// Records the end of a look.
    ///
    /// - Parameter record: The record; nil if the shared state is unavailable.
    mutating func see(_ record: SharedRecord?, now: Duration) -> News {
        isLooking = false
        let isOutdated = isLookOutdated
        isLookOutdated = false
        guard let record else {
            fail(now: now)
            return .nothing
        }
        backoff.succeed()
        return isOutdated ? .nothing : learn(record)
    }

    /// Updates the view from a record, and returns the change.
    mutating func learn(_ record: SharedRecord) -> News {
        if record.data != nil {
            if isOpening, record.version == version { return .nothing }
            (version, isOpening, isOver) = (record.version, true, false)
            return .opened
        }
        guard isOpening else { return .nothing }
        if record.version == version {
            defer { isOver = true }
            return isOver ? .nothing : .isOver
        }
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

    /// Records that another instance has the right to send a trial request.
    mutating func refuse() {
        backoff.succeed()
        isOver = true
    }

    /// Whether the store can be asked for the right to send a trial request.
    func mayAsk(now: Duration) -> Bool { backoff.isOver(now: now) }

    /// Records that this instance or another has written a version of the record.
    mutating func know(_ version: UInt64, isOpening: Bool) {
        (self.version, self.isOpening, isOver) = (version, isOpening, false)
        isLookOutdated = isLooking
    }

    /// Whether this instance has to write the record to open or close the circuit.
    mutating func mustWrite(over record: SharedRecord, toOpen: Bool) -> Bool {
        let isOwn = isOpening && record.version == version
        if toOpen, record.data != nil, !isOwn {
            // Another instance has already opened the circuit.
            know(record.version, isOpening: true)
            return false
        }
        // A look that is under way may see this write, and must not take it for another instance's.
        isLookOutdated = isLooking
        return toOpen || record.data != nil || isOwn
    }
}
