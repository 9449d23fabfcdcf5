// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// A signed-in session that several processes share, so that one expired token causes one refresh.
///
/// A server that rotates refresh tokens revokes all of them when one is used twice. That happens if several processes
/// refresh at the same time.
///
/// ```swift
/// struct Tokens: Codable, Sendable {
///     let access: String
///     let refresh: String
///     let expiry: Date
/// }
///
/// let shared = SharedSession<Tokens>(
///     named: "accounts",
///     in: try FolderSharedState(folder: folder),
///     storage: .sealed(by: { try seal($0) }, opened: { try open($0) })
/// )
/// let session = RefreshableCredentials(sharing: shared) { tokens in
///     .bearer(tokens.access, until: tokens.expiry)
/// } refreshing: { tokens in
///     try await accounts.value(Tokens.self, at: .refresh(tokens?.refresh))
/// }
/// ```
///
/// A refresh takes these steps:
///
/// 1. If another process has stored a newer session, this process uses that session and sends no request.
/// 2. Otherwise it acquires a lease. If another process has the lease, this process waits until a newer session is
///    stored or the lease has ended.
/// 3. It refreshes the session, and renews the lease meanwhile.
/// 4. If another process has stored a session meanwhile, this process uses that session. Otherwise it stores the new
///    session and uses it.
///
/// A process that crashes during a refresh blocks the others until its lease ends. A process whose refresh or storage
/// hangs renews its lease up to the time limit of the `RefreshableCredentials`, 30 seconds by default. It does not
/// block the others for more than that limit plus one lease, about 45 seconds by default.
///
/// A cancellation does not stop step 4, because the server may already have revoked the old session. If the new session
/// cannot be stored, this process uses it, and tries again to store it until another process has stored one.
///
/// If the shared state has lost the session, this process refreshes the session that it used last. Another process may
/// already have refreshed it. If the server refuses it with a status from 400 to 499, this process forgets it. The same
/// applies if the shared state has an older session again, and this process has seen that session replaced.
///
/// After a failure of the shared state, refreshes do not use it for 1 second. This time doubles with each further
/// failure, up to 30 seconds. Meanwhile refreshes fail at once, or go ahead without the shared state; see
/// ``SharedSessionPolicy/refreshesWithoutState``.
public final class SharedSession<Session: Codable & Sendable>: Sendable {
    private let key: SharedStateKey
    private let state: any SharedState
    private let storage: SharedSessionStorage<Session>
    private let policy: SharedSessionPolicy
    private let timeSource: any TimeSource
    private let view = Protected(SharedSessionView<Session>())
    private let backoff = Protected(SharedStateBackoff())

    /// Makes a session that is stored in shared state.
    ///
    /// - Parameters:
    ///   - name: The session's name, such as the name of the account's server. It must not contain a secret.
    ///   - namespace: The program's namespace; "ApiConnector" by default.
    ///   - state: The shared state in which the session is stored.
    ///   - storage: How the session is stored: encrypted in the shared state, or in the program's own store.
    ///   - policy: Durations, and what happens if the shared state is unavailable.
    ///   - timeSource: The clock for waits; ``/ApiConnector/TimeSource/system`` by default.
    public init(
        named name: String,
        namespace: String = "ApiConnector",
        in state: any SharedState,
        storage: SharedSessionStorage<Session>,
        policy: SharedSessionPolicy = SharedSessionPolicy(),
        timeSource: any TimeSource = .system
    ) {
        key = SharedStateKey(name, in: namespace)
        self.state = state
        self.storage = storage
        self.policy = policy
        self.timeSource = timeSource
    }

    /// Stores a session after a sign-in, for all processes.
    ///
    /// - Throws: ``/ApiConnector/ApiConnectorError`` of kind `.sharedStateUnavailable` or `.cancelled`, or the error of
    ///   saving the session.
    public func signIn(_ session: Session) async throws {
        while true {
            let record = try await storedRecord()
            if try await replace(record, with: session, storage.save(session)) { return }
        }
    }

    /// Removes the session, for all processes.
    ///
    /// A process that has a credential uses it until it expires or a server refuses it.
    ///
    /// - Throws: ``/ApiConnector/ApiConnectorError`` of kind `.sharedStateUnavailable` or `.cancelled`, or the error of
    ///   removing the session from the program's own store.
    public func signOut() async throws {
        while true {
            let record = try await storedRecord()
            // This comes first, so that the session is gone if the call succeeds, and a failed call can be repeated.
            if let old = record.data { try await storage.remove?(old) }
            if try await replaceRecord(record, with: nil) != nil {
                view.withLock { $0.forget(record) }
                return
            }
        }
    }

    /// Returns a newer session than the one that this instance returned last.
    ///
    /// Refreshes the session if no other process has done so.
    ///
    /// ``ApiConnector/RefreshableCredentials/init(sharing:margin:limit:timeLimit:timeSource:credential:refreshing:)``
    /// calls it. If the shared state is unavailable during such a refresh, each call that waits for it reports the
    /// event `custom("sharedStateUnavailable")`.
    ///
    /// A call that takes more than 5 minutes no longer renews its lease, so another process may also refresh.
    ///
    /// - Parameters:
    ///   - isUsable: Whether a session that another process stored before this call can be used. By default, every
    ///     session can. A session that another process stores during this call is always used, because it is fresh even
    ///     if it has expired by the clock of this process.
    ///   - refresh: Makes a new session from the stored one, which is nil if no user is signed in.
    /// - Throws: The errors of `refresh` and of the storage. ``/ApiConnector/ApiConnectorError`` of kind
    ///   `.sharedStateUnavailable`, unless ``SharedSessionPolicy/refreshesWithoutState`` is true. `CancellationError`
    ///   if the task is canceled.
    public func refreshed(
        where isUsable: @Sendable (Session) -> Bool = { _ in true },
        by refresh: @Sendable (Session?) async throws -> Session
    ) async throws -> Session {
        try await refreshed(renewingFor: .seconds(300), where: isUsable, by: refresh)
    }

    /// Returns a newer session, as ``refreshed(where:by:)`` does.
    ///
    /// - Parameter limit: How long this process renews its lease, from the start of the call. Without a limit, a
    ///   storage that hangs would keep all other processes from refreshing.
    func refreshed(
        renewingFor limit: Duration,
        where isUsable: @Sendable (Session) -> Bool,
        by refresh: @Sendable (Session?) async throws -> Session
    ) async throws -> Session {
        var progress = SharedRefreshProgress(policy)
        let end = timeSource.now + limit.bounded
        while true {
            try Task.checkCancellation()
            do {
                try checkState()
                let record = try await storedRecord()
                let first = progress.firstVersion(or: record)
                if let session = try await newerSession(in: record, than: first, isUsable) { return session }
                let owner = progress.owner
                if let lease = try await finishing({ try await self.acquireLease(for: owner) }) {
                    return try await during(lease, of: owner, renewingUntil: end) {
                        try Task.checkCancellation()
                        return try await self.makeSession(after: first, isUsable, by: refresh)
                    }
                }
            } catch let error as ApiConnectorError where error.kind == .sharedStateUnavailable {
                report(error)
                guard policy.refreshesWithoutState else { throw error }
                let known = view.withLock { $0.known }
                let new = try await refresh(known?.session)
                keep(new, nil, over: known?.record)
                return new
            }
            try await timeSource.sleep(until: timeSource.now + progress.nextPause())
        }
    }

    /// Runs an operation to its end, even if this task is canceled.
    ///
    /// The store could still run a canceled operation, and only this call would know its result.
    private func finishing<Value: Sendable>(
        _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await Task { try await operation() }.value
    }

    /// - Throws: An error of kind `.sharedStateUnavailable` if the shared state must not be asked yet.
    private func checkState() throws(ApiConnectorError) {
        let now = timeSource.now
        let wait = backoff.withLock { $0.end - now }
        guard wait > .zero else { return }
        throw .sharedStateUnavailable("it has failed, and is asked again in \(wait) at the earliest")
    }

    /// Performs an operation of the shared state, and records whether the shared state is available.
    private func asking<Value: Sendable>(
        _ operation: () async throws(ApiConnectorError) -> Value
    ) async throws(ApiConnectorError) -> Value {
        do throws(ApiConnectorError) {
            let value = try await operation()
            backoff.withLock { $0.succeed() }
            return value
        } catch {
            let now = timeSource.now
            if error.kind == .sharedStateUnavailable { backoff.withLock { $0.fail(now: now) } }
            throw error
        }
    }

    /// Reports an event if an error means that the shared state is unavailable.
    private func report(_ error: any Error) {
        guard (error as? ApiConnectorError)?.kind == .sharedStateUnavailable else { return }
        // A detail with the name "session" would be redacted.
        RefreshableCredentials.report(.custom("sharedStateUnavailable", details: ["sharedSession": key.name]))
    }

    private func storedRecord() async throws(ApiConnectorError) -> SharedRecord {
        try await asking { () async throws(ApiConnectorError) in
            try await state.record(for: key, within: policy.operationLimit)
        }
    }

    /// The stored session; nil if it was stored before the refresh and this instance knows it, if this instance knows
    /// that it was replaced, or if it cannot be used.
    ///
    /// - Parameter first: The version that was stored when the refresh began.
    private func newerSession(
        in record: SharedRecord,
        than first: UInt64,
        _ isUsable: (Session) -> Bool
    ) async throws -> Session? {
        switch view.withLock({ $0.reading(of: record, since: first) }) {
        case .refresh: return nil
        case .use(let session): return session
        case .load(let data):
            guard let session = try await storage.load(data) else { return nil }
            view.withLock { $0.read(session, in: record) }
            return record.version != first || isUsable(session) ? session : nil
        }
    }

    /// Refreshes the session under this process's lease, unless another process has already stored a newer session.
    private func makeSession(
        after first: UInt64,
        _ isUsable: (Session) -> Bool,
        by refresh: @Sendable (Session?) async throws -> Session
    ) async throws -> Session {
        var record = try await storedRecord()
        while true {
            if let session = try await newerSession(in: record, than: first, isUsable) { return session }
            let (old, oldRecord) = try await session(replacing: record)
            if old == nil, record.data != nil {
                // Another process may have stored a session, and removed this one from the program's own store.
                let again = try await storedRecord()
                if again.version != record.version {
                    record = again
                    continue
                }
            }
            do {
                let new = try await refresh(old)
                // If the store loses the record and then has it again, its session must not replace the new one.
                view.withLock { $0.addReplaced(oldRecord) }
                return await newestSession(storing: new, over: record, isUsable)
            } catch  where view.withLock({ $0.isLost(from: record) }) && error.isRefusal {
                // The lost session may have been a newer one. The refused one is not sent a second time.
                view.withLock { $0.forget(record) }
                let stored = try await storedRecord()
                if let session = try await newerSession(in: stored, than: record.version, isUsable) { return session }
                throw error
            }
        }
    }

    /// Stores the session of a refresh, now or later.
    ///
    /// - Returns: The session of another process if that process has stored one meanwhile.
    private func newestSession(
        storing new: Session,
        over first: SharedRecord,
        _ isUsable: (Session) -> Bool
    ) async -> Session {
        var record = first
        // The server may have revoked the old session. So the new one is stored even if this task is canceled.
        while (try? await finishing { [record] in await self.store(new, over: record) }) == true {
            do {
                let stored = try await storedRecord()
                if let session = try await newerSession(in: stored, than: record.version, isUsable) { return session }
                guard view.withLock({ $0.isLoss(stored, of: record) }) else { return new }
                record = stored
            } catch {
                report(error)
                keep(new, nil, over: record)
                return new
            }
        }
        return new
    }

    /// Saves and stores a session, now or later; true if the record has been replaced or lost.
    private func store(_ session: Session, over record: SharedRecord) async -> Bool {
        var data: Data?
        do {
            let saved = try await storage.save(session)
            data = saved
            return try await !replace(record, with: session, saved)
        } catch {
            report(error)
            keep(session, data, over: record)
            return false
        }
    }

    /// The session to refresh, and its record; no session if no user is signed in.
    private func session(replacing record: SharedRecord) async throws -> (Session?, SharedRecord) {
        switch view.withLock({ $0.source(replacing: record) }) {
        case .own(let known): return (known.session, known.record)
        case .stored(let data): return (try await storage.load(data), record)
        case .none: return (nil, record)
        }
    }

    /// Uses a session that could not be stored, and keeps trying to store it until that succeeds or another process has
    /// replaced the record.
    ///
    /// Until then, other processes may refresh the old session, whose refresh token may no longer be valid.
    ///
    /// - Parameters:
    ///   - data: The data of the session; nil if the session has not been saved yet.
    ///   - record: The record to replace.
    private func keep(_ session: Session, _ data: Data?, over record: SharedRecord?) {
        guard let record else { return }
        let kept = KeptSession(session, data, over: record)
        view.withLock { $0.use(session, in: record, keepID: kept.id) }
        Task { try await store(kept) }
    }

    /// Tries again and again to store a session that could not be stored.
    private func store(_ first: KeptSession<Session>) async throws {
        var kept = first
        repeat {
            try await timeSource.sleep(until: timeSource.now + policy.longestPollInterval)
            guard view.withLock({ $0.isKept(kept) }) else { break }
            // The session is saved only while the shared state answers, which has to store the resulting data.
            guard let stored = try? await storedRecord() else { continue }
            switch view.withLock({ $0.step(of: kept, over: stored) }) {
            case .stop: return await discard(kept)
            case .isStored: return await use(kept.session, in: stored, after: kept.record)
            case .store(let record): kept.record = record
            }
            if kept.data == nil { kept.data = try? await storage.save(kept.session) }
            if let data = kept.data, (try? await replace(kept.record, with: kept.session, data)) != nil { return }
        } while true
        await discard(kept)
    }

    private func discard(_ kept: KeptSession<Session>) async {
        if let data = kept.data { await discard(data, savedFor: kept.record) }
    }

    /// Stores a session whose data has been saved; false if another process has replaced the record.
    private func replace(_ record: SharedRecord, with session: Session, _ data: Data) async throws -> Bool {
        guard let version = try await replaceRecord(record, with: data) else {
            await discard(data, savedFor: record)
            return false
        }
        await use(session, in: SharedRecord(version: version, data: data), after: record)
        return true
    }

    /// Uses a session that has been stored, and removes the sessions that it replaces from the program's own store.
    private func use(_ session: Session, in stored: SharedRecord, after record: SharedRecord) async {
        let before = view.withLock { view in
            defer {
                view.addReplaced(record)
                view.use(session, in: stored)
            }
            return view.known?.record.data
        }
        guard let remove = storage.remove else { return }
        // If the shared state has lost its data, only this instance knows the name of its last session.
        for old in Set([before, record.data]) where old != stored.data {
            if let old { try? await remove(old) }
        }
    }

    private func replaceRecord(
        _ record: SharedRecord,
        with data: Data?
    ) async throws(ApiConnectorError) -> UInt64? {
        try await asking { () async throws(ApiConnectorError) in
            try await state.replaceRecord(
                with: data,
                for: key,
                ifVersion: record.version,
                lifetime: nil,
                within: policy.operationLimit
            )
        }
    }

    /// Removes a session from the program's own store, unless a record names it or may name it later.
    ///
    /// An operation that did not answer in time may still have replaced the record.
    private func discard(_ data: Data, savedFor record: SharedRecord) async {
        guard let remove = storage.remove, let stored = try? await storedRecord() else { return }
        if stored.version != record.version, stored.data != data { try? await remove(data) }
    }

    private func acquireLease(for owner: String) async throws(ApiConnectorError) -> SharedLease? {
        try await asking { () async throws(ApiConnectorError) in
            try await state.acquireLease(
                of: key,
                owner: owner,
                for: policy.leaseDuration,
                within: policy.operationLimit
            )
        }
    }

    /// Runs an operation, renews the lease meanwhile, and then ends the lease.
    ///
    /// If a renewal fails, or after the end of the renewals, the operation continues, and other processes may also
    /// refresh.
    private func during(
        _ lease: SharedLease,
        of owner: String,
        renewingUntil end: Duration,
        _ operation: @Sendable () async throws -> Session
    ) async throws -> Session {
        // This is not a child task: a canceled operation may continue to run, and then still needs the lease.
        let renewal = Task { await renewed(lease, of: owner, until: end) }
        let outcome: Result<Session, any Error>
        do { outcome = .success(try await operation()) } catch { outcome = .failure(error) }
        renewal.cancel()
        // In a canceled task, the lease would not be ended before it expires.
        try? await finishing { [state, policy] in
            try? await state.endLease(renewal.value, within: policy.operationLimit)
        }
        return try outcome.get()
    }

    /// Renews a lease until its task is canceled or the time is over; returns the last lease.
    private func renewed(_ first: SharedLease, of owner: String, until end: Duration) async -> SharedLease {
        var lease = first
        while (try? await timeSource.sleep(until: timeSource.now + policy.leaseDuration / 3)) != nil,
            timeSource.now < end
        {
            // If the lease was lost, its renewal is a new lease with another number.
            let renewal = try? await finishing { try? await self.acquireLease(for: owner) }
            if let renewed = renewal ?? nil { lease = renewed }
        }
        return lease
    }
}

extension Error {
    /// Whether a server has refused the request, and would refuse it again.
    fileprivate var isRefusal: Bool {
        guard let error = self as? ApiConnectorError, let status = error.response?.status else { return false }
        if error.kind == .backendFailure, status.rawValue < 400 { return true }
        return 400..<500 ~= status.rawValue && ![408, 425, 429].contains(status.rawValue)
    }
}
