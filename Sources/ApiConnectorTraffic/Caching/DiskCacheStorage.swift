// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// Stores a cache's records as files in a folder, for later runs and for several processes at once.
///
/// - A record is written to a new file, which then replaces the old one. So a process that is killed leaves either the
///   old record or the new one. Each record has a checksum; a record that a failing disk or another program has changed
///   is removed.
/// - A lock on a file in the folder lets one process at a time change records. If the file system has no such locks,
///   nothing is stored.
/// - The least recently used records are removed to make room for new ones.
/// - Only the current user can read the files. The same holds for a folder that the storage makes; the permissions of
///   an existing folder do not change.
/// - URLs, credentials and the fields named in `Vary` are stored as keyed digests; the key is a file in the folder.
///   Cookies and fields with secret names are not stored. Bodies are stored unchanged.
/// - If a record cannot be written, because the disk is full or the folder belongs to another user, no call fails. The
///   record is then not stored.
///
/// The storage works on its own queue. No call waits for a write.
public final class DiskCacheStorage: CacheStorage {
    /// The folder of the files.
    public let folder: URL

    /// The maximum total size of all records in bytes.
    public let maximumByteCount: Int

    /// 32 random bytes, kept in the folder.
    public let digestKey: Data

    private let files: CacheFolder
    private let queue = DispatchQueue(label: "ApiConnector.DiskCacheStorage", qos: .userInitiated)
    private let pendingCount = Protected(0)

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
    public func record(for key: CacheKey) async -> Data? {
        await withCheckedContinuation { continuation in
            queue.async { [files] in continuation.resume(returning: files.record(for: key)) }
        }
    }

    /// Replaces a record with the result of a function, unless the result is larger than a quarter of the maximum size.
    public func update(_ key: CacheKey, _ change: @escaping @Sendable (Data?) -> Data?) {
        let isOverrun = pendingCount.withLock { count in
            count += 1
            return count > Self.maximumPendingCount
        }
        queue.async { [self] in
            // If the disk is too slow for the writes, the record is dropped instead of kept in memory.
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
