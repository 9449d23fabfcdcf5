// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// How a ``SharedSession`` is stored.
public struct SharedSessionStorage<Session: Codable & Sendable>: Sendable {
    /// Returns the data for the shared state.
    let data: @Sendable (Session?) async throws -> Data?
    /// Returns the session from the data of the shared state.
    let session: @Sendable (Data) async throws -> Session?

    func data(for session: Session?) async throws -> Data? { try await data(session) }

    func session(in record: SharedRecord) async throws -> Session? {
        guard let data = record.data else { return nil }
        return try await session(data)
    }

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
            data: { session in try session.map { try seal(JSONEncoder().encode($0)) } },
            session: { data in try JSONDecoder().decode(Session.self, from: open(data)) }
        )
    }

    /// Storage in the program's own store, such as the keychain.
    ///
    /// All processes share this store. The shared state keeps only a version.
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
