// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// Keeps a cache's records in the files of a folder, for later runs, and for several processes at once.
///
/// - A record is written beside its place and moved there, so that a process which is killed, at whatever moment,
///   leaves the old record or the new one. Each has a checksum: one that a failing disk or another program has changed
///   does not count, and is removed.
/// - One process at a time changes records: a lock on a file beside them, held for one record. A folder whose file
///   system has no such locks stores nothing.
/// - The records used least recently make room for new ones.
/// - Files are for this user alone, and so is the folder where it is made here; one that exists stays as it is.
/// - Addresses, credentials and what answers vary by stand in files as digests with a key, which is a file beside them;
///   cookies and fields whose names say that they are secret do not stand in them, and bodies as they came.
/// - What cannot be written, because the disk is full or the folder another's, is not stored, and no call fails for it.
///
/// Its work is done on its own queue; no call waits for what it writes.
public final class DiskCacheStorage: CacheStorage {
    /// Where the files are.
    public let folder: URL

    /// The most bytes that all records may have together.
    public let maximumByteCount: Int

    /// 32 random bytes, kept in the folder.
    public let digestKey: Data

    private let files: CacheFolder
    private let queue = DispatchQueue(label: "ApiConnector.DiskCacheStorage", qos: .userInitiated)
    private let pendingCount = Protected(0)

    /// Opens a storage in its own folder, which is made where it is missing.
    ///
    /// - Parameters:
    ///   - folder: Where the files are, such as a folder in the user's caches; nothing else belongs there.
    ///   - maximumByteCount: The most bytes that all records may have together; 64 MiB by default. What several
    ///     processes write at the same moment may be a sixteenth more for each.
    public convenience init(folder: URL, maximumByteCount: Int = 64 * 1024 * 1024) {
        self.init(folder: folder, maximumByteCount: maximumByteCount, calls: .system)
    }

    init(folder: URL, maximumByteCount: Int, calls: CacheFileCalls) {
        self.folder = folder
        self.maximumByteCount = maximumByteCount
        files = CacheFolder(folder.path(percentEncoded: false), maximumByteCount: maximumByteCount, calls: calls)
        digestKey = files.digestKey()
    }

    /// The record of a key, which is its use.
    public func record(for key: CacheKey) async -> Data? {
        await withCheckedContinuation { continuation in
            queue.async { [files] in continuation.resume(returning: files.record(for: key)) }
        }
    }

    /// Keeps what the function makes of a record, unless it is larger than a quarter of all that there may be.
    public func update(_ key: CacheKey, _ change: @escaping @Sendable (Data?) -> Data?) {
        let isOverrun = pendingCount.withLock { count in
            count += 1
            return count > Self.maximumPendingCount
        }
        queue.async { [self] in
            // A disk that is too slow for what is to be written holds none of it in memory: the record is forgotten.
            files.update(key) { isOverrun ? nil : change($0) }
            pendingCount.withLock { $0 -= 1 }
        }
    }

    /// Forgets all records.
    public func removeAll() {
        queue.async { [files] in files.removeAll() }
    }

    private static var maximumPendingCount: Int { 64 }
}
