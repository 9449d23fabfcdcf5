// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// How a ``SharedSession`` is stored.
public struct SharedSessionStorage<Session: Codable & Sendable>: Sendable {
    /// Saves a session; returns the data for the shared state.
    let save: @Sendable (Session) async throws -> Data
    /// Returns the session that belongs to data of the shared state; nil if it has been removed.
    let load: @Sendable (Data) async throws -> Session?
    /// Removes the session that belongs to data of the shared state; nil if the session is in the data.
    let remove: (@Sendable (Data) async throws -> Void)?

    /// Storage in the shared state, as encrypted JSON.
    ///
    /// - Parameters:
    ///   - seal: Encrypts and authenticates data, such as with AES-GCM and a key that the processes share.
    ///   - open: Decrypts it.
    public static func sealed(
        by seal: @escaping @Sendable (Data) throws -> Data,
        opened open: @escaping @Sendable (Data) throws -> Data
    ) -> SharedSessionStorage {
        SharedSessionStorage(
            save: { session in try seal(JSONEncoder().encode(session)) },
            load: { data in try JSONDecoder().decode(Session.self, from: open(data)) },
            remove: nil
        )
    }

    /// Storage in the program's own store, such as the keychain.
    ///
    /// All processes share this store. The shared state keeps only the name of the current session.
    ///
    /// Each session is saved under a new name, which is then stored in the shared state. So a process whose lease has
    /// expired cannot overwrite the session of another process. A session that is no longer used is removed. If a
    /// process is killed between saving a session and storing its name, or between storing a name and removing the old
    /// session, one unused session stays in the store.
    ///
    /// ```swift
    /// let storage = SharedSessionStorage<Tokens>.external(
    ///     save: { tokens, name in try keychain.save(tokens, as: name) },
    ///     load: { name in try keychain.load(name) },
    ///     remove: { name in try keychain.remove(name) }
    /// )
    /// ```
    ///
    /// - Parameters:
    ///   - save: Saves a session under a name.
    ///   - load: Loads the session with a name; nil if there is none.
    ///   - remove: Removes the session with a name; does nothing if there is none.
    public static func external(
        save: @escaping @Sendable (Session, _ name: String) async throws -> Void,
        load: @escaping @Sendable (_ name: String) async throws -> Session?,
        remove: @escaping @Sendable (_ name: String) async throws -> Void
    ) -> SharedSessionStorage {
        SharedSessionStorage(
            save: { session in
                let name = UUID().uuidString
                try await save(session, name)
                return Data(name.utf8)
            },
            load: { data in try await load(String(decoding: data, as: UTF8.self)) },
            remove: { data in try await remove(String(decoding: data, as: UTF8.self)) }
        )
    }
}

/// The durations of a ``SharedSession``, and what happens while the shared state is unavailable.
public struct SharedSessionPolicy: Sendable, Hashable {
    /// How long a lease lasts if it is not renewed; 15 seconds by default.
    ///
    /// A process that is refreshing renews its lease each time that a third of this time has passed, up to the time
    /// limit of its refresh.
    public var leaseDuration: Duration
    /// The longest time for one operation of the shared state; 2 seconds by default.
    public var operationLimit: Duration
    /// While another process refreshes, the first wait before the shared state is read again; 50 milliseconds by
    /// default.
    ///
    /// Each wait is twice as long as the one before, up to ``longestPollInterval``.
    public var firstPollInterval: Duration
    /// The longest wait before the shared state is read again; 1 second by default.
    public var longestPollInterval: Duration
    /// Whether a process refreshes without a lease if the shared state is unavailable.
    ///
    /// False by default: the refresh fails.
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
