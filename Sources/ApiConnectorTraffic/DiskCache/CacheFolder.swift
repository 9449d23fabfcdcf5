// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The folder of a ``DiskCacheStorage``; used by a thread that reads and a thread that writes, and by several processes.
final class CacheFolder: Sendable {
    private let path: String
    private let maximumByteCount: Int
    private let calls: CacheFileCalls
    /// The bytes that this process has written since it last measured the folder; nil before the first measurement.
    private let writtenByteCount = Protected<Int?>(nil)

    init(_ path: String, maximumByteCount: Int, calls: CacheFileCalls) {
        self.path = path.hasSuffix("/") ? path : path + "/"
        // Limited, so that no calculation with it overflows.
        self.maximumByteCount = min(max(maximumByteCount, 0), .max / 4)
        self.calls = calls
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
        try? FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: true,
            attributes: attributes
        )
    }

    /// The digest key of the records, which the first process that opens the folder makes.
    ///
    /// If it can be neither read nor written, this process uses its own key.
    func digestKey() -> Data {
        let new = CacheDigest.newKey()
        let place = path + "digest.key"
        if let key = read(place), key.count == new.count { return key }
        // Without the lock, a process that starts at the same time may use another key.
        let lock = lock()
        defer { lock?.release() }
        for _ in 0..<4 {
            if let key = read(place) {
                if key.count == new.count { return key }
                unlink(place)
            }
            // With a link, the file appears with its complete contents, and only one process can create it.
            guard let file = write(new) else { break }
            if calls.link(file.path, place) == 0 {
                file.discard()
                return new
            }
            // Some file systems and sandboxes refuse hard links. A rename is safe under the lock, because no other
            // process writes a key meanwhile.
            if errno != EEXIST, lock != nil, rename(file.path, place) == 0 {
                file.release()
                return new
            }
            file.discard()
        }
        return new
    }

    /// The record of a key.
    ///
    /// A file without a valid record is removed; in rare cases this removes a file that has just replaced it.
    func record(for key: CacheKey) -> Data? {
        guard let bytes = read(place(of: key), isUse: true) else { return nil }
        if let record = CacheFile.record(in: bytes, of: key) { return record }
        unlink(place(of: key))
        return nil
    }

    /// The lock for changes; nil if another process holds it for too long, or if the folder has no lock.
    ///
    /// - Parameter isPatient: Whether to wait about a quarter of a second for the lock.
    func lock(isPatient: Bool = true) -> CacheFolderLock? {
        CacheFolderLock(in: path, isPatient: isPatient, calls: calls)
    }

    /// Replaces a record under the lock.
    ///
    /// - Returns: The record's size in the file; nil if there is no record now.
    func replace(_ key: CacheKey, with record: Data?) -> Int? {
        guard let record, CacheFile.byteCount(of: record) <= maximumByteCount / 4,
            let file = write(CacheFile.bytes(of: record, for: key))
        else {
            remove(key)
            return nil
        }
        guard rename(file.path, place(of: key)) == 0 else {
            file.discard()
            remove(key)
            return nil
        }
        file.release()
        return CacheFile.byteCount(of: record)
    }

    func remove(_ key: CacheKey) { unlink(place(of: key)) }

    func removeAll() {
        for name in names where CacheFile.key(of: name) != nil { unlink(path + name) }
    }

    private func place(of key: CacheKey) -> String { path + CacheFile.name(of: key) }

    private var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] }

    /// Removes the least recently used records if the folder is too large.
    ///
    /// Also removes the files of killed processes.
    ///
    /// The folder is measured at the first write, and then each time that this process has written a sixteenth of the
    /// maximum size. Records are removed until the folder has at most three quarters of the maximum size, so that other
    /// processes have room until they measure the folder.
    func makeRoom(after byteCount: Int) {
        let isDue = writtenByteCount.withLock { count in
            let written = count.map { $0 + byteCount }
            let isDue = written.map { $0 > maximumByteCount / 16 } ?? true
            count = isDue ? 0 : written
            return isDue
        }
        guard isDue else { return }
        var files: [(name: String, status: FileStatus)] = []
        for name in names {
            if CacheFile.isTemporary(name) {
                TemporaryCacheFile.removeIfAbandoned(path + name)
            } else if CacheFile.key(of: name) != nil, let status = FileStatus(of: path + name) {
                files.append((name, status))
            }
        }
        var rest = files.reduce(Int64(0)) { $0 + Int64($1.status.byteCount) }
        let kept = Int64(maximumByteCount) * 3 / 4
        guard rest > kept else { return }
        for file in files.sorted(by: { $0.status.time < $1.status.time }) where rest > kept {
            unlink(path + file.name)
            rest -= Int64(file.status.byteCount)
        }
    }

    /// The bytes of a file; nil if it is not a regular file or is larger than the maximum size.
    private func read(_ place: String, isUse: Bool = false) -> Data? {
        try? RegularFile.contents(of: place, upTo: maximumByteCount + 1024) { descriptor in
            if isUse { futimens(descriptor, nil) }
        }
    }

    /// Writes bytes to a new file with a unique name; nil if that fails.
    private func write(_ bytes: Data) -> TemporaryCacheFile? {
        guard let file = TemporaryCacheFile(in: path) else { return nil }
        if calls.write(bytes, to: file.descriptor) { return file }
        file.discard()
        return nil
    }
}

/// The system calls of a cache's files that a test can replace to inject faults.
struct CacheFileCalls: Sendable {
    /// pwrite(2): descriptor, bytes, offset; the number of bytes written, or -1 with `errno` set.
    var write: @Sendable (Int32, UnsafeRawBufferPointer, Int) -> Int

    /// link(2): an existing path and the new one; 0, or -1 with `errno` set.
    var link: @Sendable (String, String) -> Int32

    /// flock(2) that does not wait: a descriptor; 0, or -1 with `errno` set.
    var lock: @Sendable (Int32) -> Int32

    /// Blocks the thread for a millisecond, before it tries again to get a lock.
    var pause: @Sendable () -> Void

    /// - Parameters:
    ///   - link: The call that makes a hard link; the system's by default.
    ///   - lock: The call that locks a file; the system's by default.
    ///   - pause: The pause between two tries to get a lock; a millisecond by default.
    init(
        write: @escaping @Sendable (Int32, UnsafeRawBufferPointer, Int) -> Int,
        link: @escaping @Sendable (String, String) -> Int32 = { makeLink($0, $1) },
        lock: @escaping @Sendable (Int32) -> Int32 = { flock($0, LOCK_EX | LOCK_NB) },
        pause: @escaping @Sendable () -> Void = { pauseBriefly() }
    ) {
        self.write = write
        self.link = link
        self.lock = lock
        self.pause = pause
    }

    static let system = CacheFileCalls { descriptor, bytes, offset in
        pwrite(descriptor, bytes.baseAddress, bytes.count, off_t(offset))
    }

    /// Writes bytes from the start of a file; false if not all of them could be written.
    func write(_ data: Data, to descriptor: Int32) -> Bool {
        data.withUnsafeBytes { bytes in
            var written = 0
            while written < bytes.count {
                let count = write(descriptor, UnsafeRawBufferPointer(rebasing: bytes[written...]), written)
                if count > 0 { written += count } else if count == 0 || errno != EINTR { return false }
            }
            return true
        }
    }
}

// The property of the same name hides the function of the C library.
private func makeLink(_ existing: String, _ new: String) -> Int32 { link(existing, new) }

// The number of tries limits the wait for a lock, so no clock is read. Without descriptors, poll(2) only blocks.
private func pauseBriefly() { poll(nil, 0, 1) }
