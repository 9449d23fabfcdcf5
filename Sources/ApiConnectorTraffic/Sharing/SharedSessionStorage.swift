// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// How a ``SharedSession`` is stored.
public struct SharedSessionStorage<Session: Codable & Sendable>: Sendable {
    /// Returns what the shared state keeps.
    let data: @Sendable (Session?) async throws -> Data?
    /// Returns the session of what the shared state keeps.
    let session: @Sendable (Data) async throws -> Session?

    func data(for session: Session?) async throws -> Data? { try await data(session) }

    func session(in record: SharedRecord) async throws -> Session? {
        guard let data = record.data else { return nil }
        return try await session(data)
    }

    /// The shared state keeps the session as JSON, encrypted.
    ///
    /// - Parameters:
    ///   - seal: Encrypts and authenticates data, such as with AES-GCM and a key that the processes share.
    ///   - open: Decrypts it.
    public static func sealed(
        by seal: @escaping @Sendable (Data) throws -> Data,
        opened open: @escaping @Sendable (Data) throws -> Data
    ) -> SharedSessionStorage {
        SharedSessionStorage(
            data: { session in try session.map { try seal(JSONEncoder().encode($0)) } },
            session: { data in try JSONDecoder().decode(Session.self, from: open(data)) }
        )
    }

    /// The program keeps the session in a store that the processes share, such as the keychain; the shared state keeps only
    /// a version.
    ///
    /// - Parameters:
    ///   - save: Saves the session; nil removes it.
    ///   - load: Loads it; nil if there is none.
    public static func external(
        save: @escaping @Sendable (Session?) async throws -> Void,
        load: @escaping @Sendable () async throws -> Session?
    ) -> SharedSessionStorage {
        SharedSessionStorage(
            data: { session in
                try await save(session)
                return session == nil ? nil : Data("saved".utf8)
            },
            session: { _ in try await load() }
        )
    }
}

/// The durations of a ``SharedSession``, and what happens without its state.
public struct SharedSessionPolicy: Sendable, Hashable {
    /// How long a process has a lease without renewing it; 15 seconds by default.
    ///
    /// It is renewed in a third of this time.
    public var leaseDuration: Duration
    /// The longest time for one operation of the shared state; 2 seconds by default.
    public var operationLimit: Duration
    /// The first wait before the state of another process's refresh is read again; 50 milliseconds by default.
    ///
    /// Each wait is
    /// twice as long as the one before.
    public var firstPollInterval: Duration
    /// The longest wait before it is read again; 1 second by default.
    public var longestPollInterval: Duration
    /// Whether a process refreshes by itself if the shared state is unavailable; false by default, which fails the refresh.
    ///
    /// Processes that refresh at the same time may use a refresh token twice.
    public var refreshesWithoutState: Bool

    /// Makes a policy.
    public init(
        leaseDuration: Duration = .seconds(15),
        operationLimit: Duration = .seconds(2),
        firstPollInterval: Duration = .milliseconds(50),
        longestPollInterval: Duration = .seconds(1),
        refreshesWithoutState: Bool = false
    ) {
        self.leaseDuration = leaseDuration
        self.operationLimit = operationLimit
        self.firstPollInterval = firstPollInterval
        self.longestPollInterval = longestPollInterval
        self.refreshesWithoutState = refreshesWithoutState
    }
}
