// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// An instance's view of the record of a shared session: the session that it uses, and the records that were replaced.
///
/// A store that loses its last writes has an older record again. The refresh token of that record was already used, so
/// the instance must not take its session for a newer one. A record that another process has stored after the loss
/// differs from every replaced record, because it has other data.
struct SharedSessionView<Session: Sendable>: Sendable {
    struct Known: Sendable {
        /// The record that contains the session; for a session that is not stored yet, the record that it will replace.
        let record: SharedRecord
        let session: Session
        /// Identifies a session that could not be stored; nil for a session that is stored.
        var keepID: UUID?
    }

    /// The session that this instance uses; nil if it has not read one.
    private(set) var known: Known?
    /// The last records with data that were replaced, in the order in which this instance learned of it; at most 16.
    private var replaced: [SharedRecord] = []

    /// Whether this instance knows that the session of a record was replaced or removed.
    func isReplaced(_ record: SharedRecord) -> Bool { replaced.contains(record) }

    /// Whether the store has lost the stored session that this instance uses.
    ///
    /// It may have lost only the data. A sign-out has a higher version.
    func isLost(from record: SharedRecord) -> Bool {
        guard let known, known.keepID == nil else { return false }
        let version = known.record.version
        let isDataLost = record.data == nil && known.record.data != nil
        return record.version < version || record.version == version && isDataLost || isReplaced(record)
    }

    /// The session of this instance, if it is newer than the session of a record.
    ///
    /// A session that could not be stored is newer than the stored one. If the store has lost the session, another
    /// instance may have had a newer one, which only the server knows.
    func ownSession(insteadOf record: SharedRecord) -> Known? {
        guard let known else { return nil }
        if known.keepID == nil { return isLost(from: record) ? known : nil }
        return record.version <= known.record.version || isReplaced(record) ? known : nil
    }

    /// Uses the session of a record that another process has stored.
    mutating func read(_ session: Session, in record: SharedRecord) {
        // The store may have lost its last writes, and have a record that this instance has never read. If it then has
        // the known record again, that one is newer.
        if let version = known?.record.version, version > record.version { known = nil }
        use(session, in: record)
    }

    /// Uses a session that this instance has stored, or will store.
    mutating func use(_ session: Session, in record: SharedRecord, keepID: UUID? = nil) {
        if let known { addReplaced(known.record) }
        known = Known(record: record, session: session, keepID: keepID)
        replaced.removeAll { $0 == record }
    }

    /// Stops using the session of a record, and the session that this instance uses.
    mutating func forget(_ record: SharedRecord) {
        if let known { addReplaced(known.record) }
        addReplaced(record)
        known = nil
    }

    /// Records that the session of a record was replaced or removed.
    mutating func addReplaced(_ record: SharedRecord) {
        guard record.data != nil, !replaced.contains(record) else { return }
        replaced.append(record)
        if replaced.count > 16 { replaced.removeFirst() }
    }
}
