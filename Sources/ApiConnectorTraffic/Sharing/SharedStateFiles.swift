// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The files of a ``FolderSharedState``: one per key, and one for the lock.
final class SharedStateFiles: Sendable {
    private let path: String
    private let calls = CacheFileCalls.system

    init(_ path: String) throws(ApiConnectorError) {
        self.path = path.hasSuffix("/") ? path : path + "/"
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
        do {
            try FileManager.default.createDirectory(
                atPath: path,
                withIntermediateDirectories: true,
                attributes: attributes
            )
        } catch {
            throw .sharedStateUnavailable("the folder \(path) cannot be created: \(error.localizedDescription)")
        }
        close(try openLock())
    }

    /// Changes the entry of a key; nil if another process has the lock.
    func change<Result>(
        _ key: SharedStateKey,
        _ body: (inout SharedEntry) -> Result
    ) throws(ApiConnectorError) -> Result? {
        let lock = try openLock()
        defer { close(lock) }
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else { return nil }
        // Closing alone does not release the lock while a process that is being started has a copy of the descriptor.
        defer { flock(lock, LOCK_UN) }
        let place = path + Self.name(of: key)
        // A file that another program has changed is treated as missing.
        let known = FileManager.default.contents(atPath: place)
            .flatMap { try? JSONDecoder().decode(SharedEntry.self, from: $0) }
        var entry = known ?? SharedEntry()
        let result = body(&entry)
        if entry != known { try write(entry, to: place) }
        return result
    }

    private func write(_ entry: SharedEntry, to place: String) throws(ApiConnectorError) {
        guard let data = try? JSONEncoder().encode(entry) else {
            throw .sharedStateUnavailable("an entry does not encode")
        }
        let temporary = place + ".new"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw failure("written") }
        let isWritten = calls.write(data, to: descriptor) && fsync(descriptor) == 0
        close(descriptor)
        guard isWritten, rename(temporary, place) == 0 else {
            let error = failure("written")
            unlink(temporary)
            throw error
        }
    }

    private func openLock() throws(ApiConnectorError) -> Int32 {
        let descriptor = open(path + "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw failure("opened") }
        return descriptor
    }

    private func failure(_ verb: String) -> ApiConnectorError {
        .sharedStateUnavailable("a file in \(path) cannot be \(verb): \(String(cString: strerror(errno)))")
    }

    private static func name(of key: SharedStateKey) -> String {
        let digits = SHA256Digest.digest(of: Array(key.description.utf8)).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        return digits.joined() + ".json"
    }
}
