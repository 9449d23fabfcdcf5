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
