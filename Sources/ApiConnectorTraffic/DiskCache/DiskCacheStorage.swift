// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// Stores a cache's records as files in a folder, for later runs and for several processes at once.
///
/// - A record is written to a new file, which then replaces the old one. So a process that is killed leaves either the
///   old record or the new one. Each record has a checksum; a record that a failing disk or another program has changed
///   is removed.
/// - A lock on a file in the folder lets one process at a time change records. Reads take no lock. If another process
///   holds the lock for more than about a quarter of a second, for example because it was stopped, or if the file
///   system has no such locks, the change is dropped and its record is removed.
/// - The least recently used records are removed to make room for new ones.
/// - Only the current user can read the files. The same holds for a folder that the storage makes; the permissions of
///   an existing folder do not change.
/// - URLs, credentials and the fields named in `Vary` are stored as keyed digests; the key is a file in the folder.
///   Cookies and fields with secret names are not stored. Bodies are stored unchanged.
/// - If a record cannot be written, because the disk is full or the folder belongs to another user, no call fails. The
///   record is then not stored.
///
/// Reads and writes have separate queues, so no call waits for a write. At most 64 changes wait for the disk. Above it,
/// a change is dropped and its record is removed. A dropped change keeps nothing in memory except its key.
public final class DiskCacheStorage: CacheStorage {
    /// The folder of the files.
    public let folder: URL

    /// The maximum total size of all records in bytes.
    public let maximumByteCount: Int

    /// 32 random bytes, kept in the folder.
    public let digestKey: Data

    private let files: CacheFolder
    private let changes = Protected(PendingCacheChanges())
    /// Whether the last change found the lock in use: the next one does not wait for it, so that memory is released.
    private let isLockInUse = Protected(false)
    private let reads = DispatchQueue(label: "ApiConnector.DiskCacheStorage.reads", qos: .userInitiated)
    private let writes = DispatchQueue(label: "ApiConnector.DiskCacheStorage.writes", qos: .userInitiated)

    /// Opens a storage in its own folder, which is created if it is missing.
    ///
    /// - Parameters:
    ///   - folder: The folder for the files, such as a folder in the user's caches. Keep no other files in it.
    ///   - maximumByteCount: The maximum total size of all records; 64 MiB by default. Each process that writes to the
    ///     folder may exceed it by a sixteenth.
    public convenience init(folder: URL, maximumByteCount: Int = 64 * 1024 * 1024) {
        self.init(folder: folder, maximumByteCount: maximumByteCount, calls: .system)
    }

    init(folder: URL, maximumByteCount: Int, calls: CacheFileCalls) {
        self.folder = folder
        self.maximumByteCount = maximumByteCount
        files = CacheFolder(folder.path(percentEncoded: false), maximumByteCount: maximumByteCount, calls: calls)
        digestKey = files.digestKey()
    }

    /// Returns the record of a key, and marks it as used.
    ///
    /// If the task is canceled, the wait ends with nil.
    public func record(for key: CacheKey) async -> Data? {
        let end = PendingResult<Data?>()
        let result = await end.result(ifCanceled: .success(nil)) { read(key, for: end) }
        return try? result.get()
    }

    /// Returns the record of a key to a call, and marks it as used.
    ///
    /// A cancellation and the deadline of the call end the wait, even if the disk hangs. Without a task that waits for
    /// the disk, a hit takes a quarter less time.
    ///
    /// - Throws: ``ApiConnector/ApiConnectorError`` of kind `.cancelled` or `.deadlineExceeded`.
    public func record(for key: CacheKey, to request: ApiRequest) async throws(ApiConnectorError) -> Data? {
        let end = PendingResult<Data?>()
        let result = await request.withDeadline {
            read(key, for: end)
            return await end.result()
        } onStop: { error in
            end.resume(with: .failure(error))
        }
        return try result.get()
    }

    /// Replaces a record with the result of a function, unless the result is larger than a quarter of the maximum size.
    ///
    /// The function may be called several times: by reads until its result is on the disk, and by the write.
    public func update(_ key: CacheKey, _ change: @escaping @Sendable (Data?) -> Data?) {
        let (isAccepted, _) = changes.withLock { changes in
            // If the disk is too slow for the writes, the record is dropped instead of kept in memory.
            changes.append(change, to: key) ? (true, []) : (false, changes.drop(key))
        }
        // Changes that were accepted earlier remove the outdated record.
        if isAccepted { writes.async { [self] in write(key) } }
    }

    /// Forgets all records.
    public func removeAll() {
        _ = changes.withLock { $0.dropAll() }
        writes.async { [self] in write(nil) }
    }

    /// Reads a record on the queue for reads, unless the wait for it has already ended.
    ///
    /// When a disk that hung responds again, the reads that no call waits for delay no other read.
    private func read(_ key: CacheKey, for end: PendingResult<Data?>) {
        reads.async { [self] in
            if !end.isOver { end.resume(with: .success(newestRecord(of: key))) }
        }
    }

    /// The record on the disk, after all changes that are not on the disk yet.
    private func newestRecord(of key: CacheKey) -> Data? {
        while true {
            let view = changes.withLock { $0.view(of: key) }
            switch view.base {
            case .known(let record):
                return view.changes.reduce(record) { $1($0) }
            case .onDisk:
                let record = files.record(for: key)
                // If the first change began to be written meanwhile, the record may be its result already.
                guard view.changes.isEmpty || changes.withLock({ $0.view(of: key).firstNumber }) == view.firstNumber
                else { continue }
                return view.changes.reduce(record) { $1($0) }
            }
        }
    }

    /// Removes the outdated records, and writes the next change of a key; only on the queue for writes.
    private func write(_ key: CacheKey?) {
        guard let lock = files.lock(isPatient: !isLockInUse.withLock { $0 }) else {
            isLockInUse.withLock { $0 = true }
            // Another process could undo a change. It could also put back the old record, so the record is outdated.
            let dropped = changes.withLock { changes in key.map { changes.drop($0) } ?? changes.dropAll() }
            // The outdated records must not be there after a restart. To remove a file needs no lock: at worst, another
            // process has just replaced the record, and its next call is a miss.
            removeFiles(of: changes.withLock { $0.takeUnremoved() })
            // A change is released after its effect on the disk, as a change that is written.
            return withExtendedLifetime(dropped) {}
        }
        isLockInUse.withLock { $0 = false }
        removeOutdatedRecords()
        let byteCount = key.flatMap { writeNextChange(of: $0) }
        lock.release()
        if let byteCount { files.makeRoom(after: byteCount) }
    }

    private func removeOutdatedRecords() {
        let outdated = changes.withLock { $0.outdated }
        removeFiles(of: outdated)
        changes.withLock { $0.finishRemoval(of: outdated) }
    }

    private func removeFiles(of outdated: PendingCacheChanges.Outdated) {
        switch outdated {
        case .keys(let keys):
            for key in keys { files.remove(key) }
        case .all:
            files.removeAll()
        }
    }

    /// - Returns: The number of bytes written; nil if the key now has no record.
    private func writeNextChange(of key: CacheKey) -> Int? {
        let view = changes.withLock { $0.view(of: key) }
        guard let number = view.firstNumber, let change = view.changes.first else { return nil }
        let record = change(files.record(for: key))
        guard changes.withLock({ $0.begin(number, of: key, writing: record) }) else { return nil }
        defer { changes.withLock { $0.finish(key) } }
        return files.replace(key, with: record)
    }
}
