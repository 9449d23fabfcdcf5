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

// MARK: - Decisions

extension SharedSessionView {
    /// How a refresh uses a record that it has read.
    enum Reading {
        /// The session of this instance, which another call has stored.
        case use(Session)
        /// The session that belongs to these data, which another process has stored.
        case load(Data)
        /// The record has no newer session.
        case refresh
    }

    /// - Parameter first: The version that was stored when the refresh began.
    func reading(of record: SharedRecord, since first: UInt64) -> Reading {
        guard let data = record.data, !isReplaced(record) else { return .refresh }
        // After a loss, the store may give the version to another record.
        guard let known, known.record == record else { return .load(data) }
        // Another call of this instance has stored it, by a sign-in or a refresh.
        return record.version != first && known.keepID == nil ? .use(known.session) : .refresh
    }

    /// The session that a refresh replaces.
    enum Source {
        /// The session of this instance, which is newer than the stored one.
        case own(Known)
        /// The session that belongs to these data.
        case stored(Data)
        /// No user is signed in.
        case none
    }

    func source(replacing record: SharedRecord) -> Source {
        if let own = ownSession(insteadOf: record) { return .own(own) }
        guard let data = record.data, !isReplaced(record) else { return .none }
        return .stored(data)
    }

    /// Whether the store has lost a record, rather than another process having replaced it.
    ///
    /// The version is then lower. A sign-out has a higher version.
    func isLoss(_ stored: SharedRecord, of record: SharedRecord) -> Bool {
        stored.version < record.version || isReplaced(stored)
    }

    /// How a session that could not be stored goes on.
    enum KeepStep {
        /// Another process has replaced the record.
        case stop
        /// An operation has stored it whose reply was lost.
        case isStored
        case store(over: SharedRecord)
    }

    /// Whether this instance still uses the session; it may have a newer one.
    func isKept(_ kept: KeptSession<Session>) -> Bool { known?.keepID == kept.id }

    func step(of kept: KeptSession<Session>, over stored: SharedRecord) -> KeepStep {
        if let data = kept.data, data == stored.data { return .isStored }
        guard stored.version != kept.record.version else { return .store(over: kept.record) }
        // If the store has lost its last writes or all data, no other process has stored a session.
        let isEmpty = stored.data == nil && stored.version == 0
        return isEmpty || isReplaced(stored) ? .store(over: stored) : .stop
    }
}

/// A session that could not be stored yet.
struct KeptSession<Session: Sendable>: Sendable {
    let id = UUID()
    let session: Session
    /// The data of the session; nil if it has not been saved yet.
    var data: Data?
    /// The record to replace.
    var record: SharedRecord

    init(_ session: Session, _ data: Data?, over record: SharedRecord) {
        self.session = session
        self.data = data
        self.record = record
    }
}

/// The progress of one call that refreshes a shared session.
struct SharedRefreshProgress {
    /// Each call is an owner of leases, so that calls of one instance wait for each other, too.
    let owner = UUID().uuidString
    private let longestPause: Duration
    private var pause: Duration
    private var firstVersion: UInt64?

    init(_ policy: SharedSessionPolicy) {
        pause = policy.firstPollInterval
        longestPause = policy.longestPollInterval
    }

    /// The version that was stored when the refresh began; that of `record` if it is the first record.
    mutating func firstVersion(or record: SharedRecord) -> UInt64 {
        let first = firstVersion ?? record.version
        firstVersion = first
        return first
    }

    /// The time until the shared state is read again, while another process has the lease.
    mutating func nextPause() -> Duration {
        defer { pause = min(pause * 2, longestPause) }
        return pause
    }
}
