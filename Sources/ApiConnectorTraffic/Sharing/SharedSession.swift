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
/// 4. It stores the new session, unless another process has stored one meanwhile. It then uses the stored session.
///
/// A process that crashes during a refresh blocks the others until its lease ends.
public final class SharedSession<Session: Codable & Sendable>: Sendable {
    private let key: SharedStateKey
    private let state: any SharedState
    private let storage: SharedSessionStorage<Session>
    private let policy: SharedSessionPolicy
    private let timeSource: any TimeSource
    /// The name of this instance as an owner of leases.
    private let owner = UUID().uuidString
    /// The session that this instance uses; nil if it has not read one.
    private let known = Protected<Known?>(nil)

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
    ///   sealing the session.
    public func signIn(_ session: Session) async throws {
        while true {
            let record = try await state.record(for: key, within: policy.operationLimit)
            if try await store(session, over: record.version) { return }
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
            let record = try await state.record(for: key, within: policy.operationLimit)
            if try await store(nil, over: record.version) { return }
        }
    }

    /// Returns a newer session than the one that this instance returned last.
    ///
    /// Refreshes the session if no other process has done so.
    ///
    /// ``ApiConnector/RefreshableCredentials/init(sharing:margin:limit:timeLimit:timeSource:credential:refreshing:)`` calls
    /// it.
    ///
    /// - Parameters:
    ///   - isUsable: Whether a session that another process has stored can be used. By default, every session can.
    ///   - refresh: Makes a new session from the stored one, which is nil if no user is signed in.
    /// - Throws: The errors of `refresh` and of the storage. ``/ApiConnector/ApiConnectorError`` of kind
    ///   `.sharedStateUnavailable`, unless ``SharedSessionPolicy/refreshesWithoutState`` is true. `CancellationError`
    ///   if the task is canceled.
    public func refreshed(
        where isUsable: @Sendable (Session) -> Bool = { _ in true },
        by refresh: @Sendable (Session?) async throws -> Session
    ) async throws -> Session {
        var pause = policy.firstPollInterval
        while true {
            try Task.checkCancellation()
            do {
                if let session = try await newerSession(in: storedRecord()), isUsable(session) { return session }
                if let lease = try await acquireLease() {
                    // Another process may have stored a session before it ended its lease.
                    return try await during(lease) {
                        let record = try await self.storedRecord()
                        if let session = try await self.newerSession(in: record), isUsable(session) { return session }
                        return try await self.makeSession(after: record, by: refresh)
                    }
                }
            } catch let error as ApiConnectorError where error.kind == .sharedStateUnavailable {
                guard policy.refreshesWithoutState else { throw error }
                let known = known.withLock { $0 }
                let new = try await refresh(known?.session)
                keep(new, over: known?.version)
                return new
            }
            try await timeSource.sleep(until: timeSource.now + pause)
            pause = min(pause * 2, policy.longestPollInterval)
        }
    }

    private func storedRecord() async throws(ApiConnectorError) -> SharedRecord {
        try await state.record(for: key, within: policy.operationLimit)
    }

    /// The stored session; nil if this instance has already read it.
    private func newerSession(in record: SharedRecord) async throws -> Session? {
        guard record.data != nil, record.version != known.withLock({ $0?.version }) else { return nil }
        guard let session = try await storage.session(in: record) else { return nil }
        known.withLock { $0 = Known(version: record.version, session: session, isStored: true) }
        return session
    }

    private func makeSession(
        after record: SharedRecord,
        by refresh: @Sendable (Session?) async throws -> Session
    ) async throws -> Session {
        // If the session of this instance could not be stored, or if the store has lost it, it is newer than the stored
        // one.
        let own = known.withLock { known in
            known.flatMap { known in
                let isLost = record.version < known.version || (record.version == known.version && !known.isStored)
                return isLost ? known.session : nil
            }
        }
        let old = if let own { own } else { try await storage.session(in: record) }
        let new = try await refresh(old)
        do {
            // If the lease has expired, another process may have stored a session.
            if try await !store(new, over: record.version) { return try await newerSession(in: storedRecord()) ?? new }
        } catch let error as ApiConnectorError where error.kind == .sharedStateUnavailable {
            keep(new, over: record.version)
        }
        return new
    }

    /// Uses a session that could not be stored, and keeps trying to store it until the shared state is available.
    ///
    /// Until then, other processes may refresh the old session, whose refresh token may no longer be valid.
    private func keep(_ session: Session, over version: UInt64?) {
        guard let version else { return }
        known.withLock { $0 = Known(version: version, session: session, isStored: false) }
        Task { [self] in
            while true {
                try await timeSource.sleep(until: timeSource.now + policy.longestPollInterval)
                guard known.withLock({ $0?.version == version && $0?.isStored == false }) else { return }
                if (try? await store(session, over: version)) != nil { return }
            }
        }
    }

    private func store(_ session: Session?, over version: UInt64) async throws -> Bool {
        let data = try await storage.data(for: session)
        let new = try await state.replaceRecord(
            with: data,
            for: key,
            ifVersion: version,
            lifetime: nil,
            within: policy.operationLimit
        )
        guard let new else { return false }
        known.withLock { $0 = session.map { Known(version: new, session: $0, isStored: true) } }
        return true
    }

    private func acquireLease() async throws -> SharedLease? {
        try await state.acquireLease(
            of: key,
            owner: owner,
            for: policy.leaseDuration,
            within: policy.operationLimit
        )
    }

    /// Runs an operation, renews the lease meanwhile, and then ends the lease.
    ///
    /// If a renewal fails, the operation continues, and other processes may also refresh.
    private func during(
        _ lease: SharedLease,
        _ operation: @Sendable () async throws -> Session
    ) async throws -> Session {
        let renewal = Task { [timeSource, policy] in
            while true {
                try await timeSource.sleep(until: timeSource.now + policy.leaseDuration / 3)
                _ = try? await acquireLease()
            }
        }
        let outcome: Result<Session, any Error>
        do { outcome = .success(try await operation()) } catch { outcome = .failure(error) }
        renewal.cancel()
        // This runs in its own task. In a canceled task, the lease would not be ended before it expires.
        await Task { [state, policy] in
            _ = await renewal.result
            try? await state.endLease(lease, within: policy.operationLimit)
        }.value
        return try outcome.get()
    }

    private struct Known {
        /// The version of the record that contains the session; for a session that is not stored yet, the version of
        /// the record that it will replace.
        let version: UInt64
        let session: Session
        let isStored: Bool
    }
}

extension RefreshableCredentials {
    /// Makes a source of credentials that shares its refreshes with other processes.
    ///
    /// - Parameters:
    ///   - shared: The session.
    ///   - margin: How long before its expiry a credential is replaced; 30 seconds by default.
    ///   - limit: The largest number of refreshes; 5 within 30 seconds by default. Using another process's new session
    ///     counts as a refresh.
    ///   - timeLimit: The longest time for one refresh, including the wait for another process; 30 seconds by default.
    ///   - timeSource: The clock; ``/ApiConnector/TimeSource/system`` by default.
    ///   - credential: Makes the credential of a session.
    ///   - refresh: Makes a new session from the stored one, which is nil if no user is signed in.
    public convenience init<Session: Codable & Sendable>(
        sharing shared: SharedSession<Session>,
        margin: Duration = .seconds(30),
        limit: RefreshableCredentials.Limit = RefreshableCredentials.Limit(),
        timeLimit: Duration = .seconds(30),
        timeSource: any TimeSource = .system,
        credential: @escaping @Sendable (Session) -> ApiCredential,
        refreshing refresh: @escaping @Sendable (Session?) async throws -> Session
    ) {
        self.init(margin: margin, limit: limit, timeLimit: timeLimit, timeSource: timeSource) { _ in
            let session = try await shared.refreshed { session in
                guard let expiry = credential(session).expiry else { return true }
                return timeSource.date.addingTimeInterval(margin / .seconds(1)) < expiry
            } by: { session in
                try await refresh(session)
            }
            return credential(session)
        }
    }
}
