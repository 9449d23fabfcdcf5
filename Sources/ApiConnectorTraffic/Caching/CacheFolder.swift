// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The folder of a ``DiskCacheStorage``; used by one thread at a time in a process, and by several processes.
final class CacheFolder: Sendable {
    private let path: String
    private let maximumByteCount: Int
    private let calls: CacheFileCalls
    /// What this process has written since it last looked how much there is; nil before it first did.
    private let writtenByteCount = Protected<Int?>(nil)

    init(_ path: String, maximumByteCount: Int, calls: CacheFileCalls) {
        self.path = path.hasSuffix("/") ? path : path + "/"
        // So that nothing that is reckoned with it overflows.
        self.maximumByteCount = min(max(maximumByteCount, 0), .max / 4)
        self.calls = calls
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
        try? FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: true,
            attributes: attributes
        )
    }

    /// The key that records are found by, made by the first process that comes; a new one, for this process alone,
    /// where it can be neither read nor written.
    func digestKey() -> Data {
        let new = CacheDigest.newKey()
        let place = path + "digest.key"
        if let key = read(place), key.count == new.count { return key }
        let lock = CacheFolderLock(in: path)
        defer { lock?.release() }
        for _ in 0..<4 {
            if let key = read(place) {
                if key.count == new.count { return key }
                unlink(place)
            }
            // Whole from the first moment on, and only one process's.
            guard let file = write(new) else { break }
            if calls.link(file.path, place) == 0 {
                file.discard()
                return new
            }
            // Some file systems and sandboxes refuse hard links. Under the lock, no process writes another key meanwhile.
            if errno != EEXIST, lock != nil, rename(file.path, place) == 0 {
                file.release()
                return new
            }
            file.discard()
        }
        return new
    }

    /// The record of a key; a file that holds none is removed, and so may be one that has just taken its place.
    func record(for key: CacheKey) -> Data? {
        guard let bytes = read(place(of: key), isUse: true) else { return nil }
        if let record = CacheFile.record(in: bytes, of: key) { return record }
        unlink(place(of: key))
        return nil
    }

    func update(_ key: CacheKey, _ change: (Data?) -> Data?) {
        let lock = CacheFolderLock(in: path)
        // What another process has forgotten or stored in between would be undone: without a lock nothing is stored.
        let count = lock == nil ? nil : replace(key, change)
        if count == nil { unlink(place(of: key)) }
        lock?.release()
        if let count { makeRoom(after: count) }
    }

    /// Puts a record in its place; its bytes in the file, and nil where there is none.
    private func replace(_ key: CacheKey, _ change: (Data?) -> Data?) -> Int? {
        guard let record = change(record(for: key)), CacheFile.byteCount(of: record) <= maximumByteCount / 4,
            let file = write(CacheFile.bytes(of: record, for: key))
        else { return nil }
        guard rename(file.path, place(of: key)) == 0 else {
            file.discard()
            return nil
        }
        file.release()
        return CacheFile.byteCount(of: record)
    }

    func removeAll() {
        let lock = CacheFolderLock(in: path)
        defer { lock?.release() }
        for name in names where CacheFile.key(of: name) != nil { unlink(path + name) }
    }

    private func place(of key: CacheKey) -> String { path + CacheFile.name(of: key) }

    private var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] }

    /// Removes the records used least recently where there is too much, and what killed processes have left.
    ///
    /// It looks at first, and after each sixteenth of what there may be. It leaves three quarters, so that there is
    /// room for what other processes write before they look.
    private func makeRoom(after byteCount: Int) {
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

    /// The bytes of a plain file that is not larger than all that there may be.
    private func read(_ place: String, isUse: Bool = false) -> Data? {
        let descriptor = open(place, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        guard let status = FileStatus(of: descriptor), status.isPlain,
            status.byteCount <= maximumByteCount + 1024
        else { return nil }
        if isUse { futimens(descriptor, nil) }
        var bytes = Data(count: status.byteCount)
        let isWhole = bytes.withUnsafeMutableBytes { buffer in
            var count = 0
            while count < buffer.count {
                let added = pread(descriptor, buffer.baseAddress.map { $0 + count }, buffer.count - count, off_t(count))
                if added < 0, errno == EINTR { continue }
                guard added > 0 else { return false }
                count += added
            }
            return true
        }
        return isWhole ? bytes : nil
    }

    /// A new file with some bytes, under its own name; nil where it cannot be written.
    private func write(_ bytes: Data) -> TemporaryCacheFile? {
        guard let file = TemporaryCacheFile(in: path) else { return nil }
        if calls.write(bytes, to: file.descriptor) { return file }
        file.discard()
        return nil
    }
}
