// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The files of a ``FolderSharedState``: one per key, and one for the lock.
final class SharedStateFiles: Sendable {
    private let path: String
    private let calls: CacheFileCalls

    init(_ path: String, calls: CacheFileCalls = .system) throws(ApiConnectorError) {
        self.calls = calls
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
    ///
    /// When this returns, a new version of the entry's record is on the disk.
    func change<Result>(
        _ key: SharedStateKey,
        _ body: (inout SharedEntry) -> Result
    ) throws(ApiConnectorError) -> Result? {
        let lock = try openLock()
        defer { close(lock) }
        guard calls.lock(lock) == 0 else {
            // Any other error will not go away: some file systems have no locks.
            guard errno == EWOULDBLOCK || errno == EINTR else { throw failure("locked") }
            return nil
        }
        // Closing alone does not release the lock while a process that is being started has a copy of the descriptor.
        defer { flock(lock, LOCK_UN) }
        let place = path + Self.name(of: key)
        let known = try entry(at: place) ?? SharedEntry()
        var entry = known
        let result = body(&entry)
        if entry != known { try write(entry, to: place) }
        // After a crash of the system, no process remembers a lease or a token, so only a record has to be there again.
        if entry.version != known.version, !syncFolder() { throw failure("written") }
        return result
    }

    /// The entry in a file; nil if there is no file, or if another program has changed it.
    private func entry(at place: String) throws(ApiConnectorError) -> SharedEntry? {
        do throws(POSIXError) {
            let data = try RegularFile.contents(of: place)
            let entry = try? JSONDecoder().decode(SharedEntry.self, from: data)
            return entry?.isValid == true ? entry : nil
        } catch {
            if error.code == .ENOENT { return nil }
            // The process may have too many open files. The entry must not be replaced with an empty one.
            throw failure("read", error.code.rawValue)
        }
    }

    /// Whether the folder has not been swept for a day.
    ///
    /// If so, it counts as swept from now on. The date of the lock's file says when it was swept last.
    func beginSweep(now: Int64) -> Bool {
        let lock = path + "lock"
        guard let time = FileStatus(of: lock)?.time, abs(now - time / 1000) >= SharedEntry.day else { return false }
        let date = Date(timeIntervalSince1970: Double(now) / 1_000_000)
        return (try? FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: lock)) != nil
    }

    /// Removes the files of entries that are over, and the files that killed processes were writing.
    ///
    /// Between two files, other operations can take the lock. If another process holds the lock for about a quarter of
    /// a second, the rest stays until the next sweep.
    func sweep(now: Int64) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        for name in names where isOver(name, now: now) {
            guard let lock = CacheFolderLock(in: path, isPatient: true, calls: calls) else { return }
            // Another process may have changed the file before this one had the lock.
            if isOver(name, now: now) { unlink(path + name) }
            lock.release()
        }
    }

    /// Whether a file has had no state for a day; false if it cannot be read.
    private func isOver(_ name: String, now: Int64) -> Bool {
        guard let time = FileStatus(of: path + name)?.time, time / 1000 <= now - SharedEntry.day else { return false }
        if name.hasSuffix(".new") { return true }
        guard name.hasSuffix(".json") else { return false }
        do throws(ApiConnectorError) { return try entry(at: path + name)?.isOver(now: now) != false } catch {
            return false
        }
    }

    private func write(_ entry: SharedEntry, to place: String) throws(ApiConnectorError) {
        guard let data = try? JSONEncoder().encode(entry) else {
            throw .sharedStateUnavailable("an entry does not encode")
        }
        let temporary = place + ".new"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else { throw failure("written") }
        let isWritten = calls.write(data, to: descriptor) && fsync(descriptor) == 0
        close(descriptor)
        guard isWritten, rename(temporary, place) == 0 else {
            let error = failure("written")
            unlink(temporary)
            throw error
        }
    }

    /// Writes the names of the files to the disk.
    private func syncFolder() -> Bool {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        // Some file systems refuse this.
        return fsync(descriptor) == 0 || errno == EINVAL
    }

    private func openLock() throws(ApiConnectorError) -> Int32 {
        let descriptor = open(path + "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else { throw failure("opened") }
        return descriptor
    }

    private func failure(_ verb: String, _ code: Int32 = errno) -> ApiConnectorError {
        .sharedStateUnavailable("a file in \(path) cannot be \(verb): \(String(cString: strerror(code)))")
    }

    private static func name(of key: SharedStateKey) -> String {
        let digits = SHA256Digest.digest(of: Array(key.description.utf8)).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        return digits.joined() + ".json"
    }
}
