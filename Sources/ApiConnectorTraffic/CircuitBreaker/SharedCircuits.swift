// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// Circuits that several instances of a program share; see
/// ``ApiConnector/DataRequestType/circuitBreaking(_:sharedAs:)``.
public struct SharedCircuits: Sendable {
    /// The shared state with the circuits.
    public let state: any SharedState
    /// The name of the circuits.
    ///
    /// All instances use the same name.
    public let name: String
    /// The program's namespace.
    public let namespace: String
    /// The time after which an instance that sends requests reads a circuit's record again.
    public let refreshInterval: Duration
    /// The longest time for one operation of the shared state.
    public let operationLimit: Duration

    /// Makes shared circuits.
    ///
    /// - Parameters:
    ///   - name: The name of the circuits; it must not contain a secret.
    ///   - namespace: The program's namespace; "ApiConnector" by default.
    ///   - state: The shared state with the circuits.
    ///   - refreshInterval: The time after which an instance that sends requests reads a circuit's record again; 1
    ///     second by default, at least 10 milliseconds.
    ///   - operationLimit: The longest time for one operation of the shared state; a quarter of a second by default.
    public init(
        named name: String,
        namespace: String = "ApiConnector",
        in state: any SharedState,
        refreshInterval: Duration = .seconds(1),
        operationLimit: Duration = .milliseconds(250)
    ) {
        self.state = state
        self.name = name
        self.namespace = namespace
        self.refreshInterval = max(refreshInterval, .milliseconds(10)).bounded
        self.operationLimit = operationLimit
    }

    func key(of origin: HTTPOrigin) -> SharedStateKey {
        SharedStateKey("\(name)/\(origin)", in: namespace)
    }
}

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

    /// The version of the last record that this instance has written or read.
    private var version: UInt64 = 0
    /// The lower version that the last read returned; nil if that read returned no older record.
    private var olderVersion: UInt64?
    /// Whether that version opened the circuit.
    private var isOpening = false
    /// Whether this instance knows that the open duration of that version is over.
    private var isOver = false
    private var nextLookTime: Duration = .zero
    /// When the next look is due if the one that is under way succeeds; nil if none is under way.
    private var timeAfterLook: Duration?
    /// Whether this instance has learned of a newer record, or has written one, during a look.
    private var isLookOutdated = false
    /// The data of the last record that this instance has tried to write.
    ///
    /// If the reply to a write is lost, the data shows that the record is this instance's own.
    private var writtenData: Data?
    /// The number of writes that are under way.
    private var writeCount = 0
    private var backoff = SharedStateBackoff()

    /// Whether the shared state is unavailable.
    var isAway: Bool { backoff.isAway }

    /// Whether to read the record now; ``see(_:now:)`` ends the look.
    ///
    /// - Parameter interval: The shortest time from the start of this look to the next one.
    mutating func beginLook(now: Duration, interval: Duration) -> Bool {
        guard timeAfterLook == nil, nextLookTime <= now else { return false }
        timeAfterLook = now + interval
        // A look may see a write that is under way, and must not take it for another instance's.
        isLookOutdated = writeCount > 0
        return true
    }

    /// Records the end of a look.
    ///
    /// - Parameter record: The record; nil if the shared state is unavailable.
    mutating func see(_ record: SharedRecord?, now: Duration) -> News {
        if let timeAfterLook { nextLookTime = timeAfterLook }
        timeAfterLook = nil
        guard let record else {
            fail(now: now)
            return .nothing
        }
        backoff.succeed()
        return isLookOutdated ? .nothing : learn(record)
    }

    /// Updates the view from a record, and returns the change.
    ///
    /// An older record than the known one counts only if two reads in a row return it. The first one may come from a
    /// replica that lags. A store that has lost its last writes returns it again.
    mutating func learn(_ record: SharedRecord) -> News {
        // A look that is under way may have read an older record.
        isLookOutdated = true
        if record.version < version, record.version != olderVersion {
            olderVersion = record.version
            return .nothing
        }
        let isKnown = isOpening && record.version == version
        if isKnown { olderVersion = nil }
        if let data = record.data {
            if isKnown { return .nothing }
            know(record.version, isOpening: true)
            return data == writtenData ? .nothing : .opened
        }
        if isKnown {
            defer { isOver = true }
            return isOver ? .nothing : .isOver
        }
        // If the store has lost the record, the instance continues with its own circuit.
        let isClosed = isOpening && record.version > version
        know(record.version, isOpening: false)
        return isClosed ? .closed : .nothing
    }

    /// Records that an operation failed.
    mutating func fail(now: Duration) {
        backoff.fail(now: now)
        nextLookTime = backoff.end
    }

    /// Records that an operation succeeded.
    mutating func succeed() { backoff.succeed() }

    /// Records that another instance has the right to send a trial request, so the open duration is over.
    mutating func refuse() { isOver = true }

    /// Whether the store can be asked for the right to send a trial request.
    func mayAsk(now: Duration) -> Bool { backoff.isOver(now: now) }

    /// Records that this instance or another has written a version of the record.
    mutating func know(_ version: UInt64, isOpening: Bool) {
        (self.version, self.isOpening, isOver, olderVersion) = (version, isOpening, false, nil)
        isLookOutdated = true
    }

    /// Whether to write the record now; ``endWrite()`` ends the write.
    ///
    /// - Parameter new: The data of a record that opens the circuit, which no other write has; nil to close the circuit.
    mutating func beginWrite(over record: SharedRecord, _ new: Data?) -> Bool {
        let isOwn = isOpening && record.version == version
        // An older record may come from a replica. Then the store refuses the write, and the instance reads again.
        // After a loss of the store, an older record with data is another instance's opening, and is replaced.
        if new != nil, let data = record.data, record.version >= version, !isOwn, data != writtenData {
            // Another instance has already opened the circuit.
            know(record.version, isOpening: true)
            return false
        }
        guard new != nil || record.data != nil || isOwn || record.version < version else { return false }
        if let new { writtenData = new }
        writeCount += 1
        isLookOutdated = true
        return true
    }

    /// Records the end of a write, after ``know(_:isOpening:)`` if it has succeeded.
    mutating func endWrite() {
        // A circuit that was removed and made again has forgotten its writes.
        writeCount = max(0, writeCount - 1)
    }
}
