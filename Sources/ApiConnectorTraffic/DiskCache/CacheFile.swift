// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The file format of a record.
enum CacheFile {
    private static let mark = Array("ApiConnector cache file 1\n".utf8)

    static func name(of key: CacheKey) -> String { "\(key).record" }

    static func key(of name: String) -> CacheKey? {
        name.hasSuffix(".record") ? CacheKey(name.dropLast(".record".count)) : nil
    }

    static func temporaryName() -> String { "\(UUID().uuidString).new" }

    static func isTemporary(_ name: String) -> Bool { name.hasSuffix(".new") && name.utf8.count == 40 }

    /// The contents of the file: the mark, the checksum and the record.
    static func bytes(of record: Data, for key: CacheKey) -> Data {
        var bytes = Data(mark)
        withUnsafeBytes(of: checksum(of: record, key).littleEndian) { bytes.append(contentsOf: $0) }
        bytes.append(record)
        return bytes
    }

    static func byteCount(of record: Data) -> Int { mark.count + 8 + record.count }

    /// The record in a file's bytes; nil if the file is incomplete, damaged or belongs to another key.
    static func record(in bytes: Data, of key: CacheKey) -> Data? {
        guard bytes.count >= mark.count + 8, bytes.starts(with: mark) else { return nil }
        let sum = UInt64(littleEndianBytes: bytes.dropFirst(mark.count).prefix(8))
        let record = bytes.dropFirst(mark.count + 8)
        return sum == checksum(of: record, key) ? record : nil
    }

    /// The checksum of the key, the record's length and its bytes, computed in blocks of eight bytes.
    ///
    /// A change in a single block always changes the checksum. Any other change is missed with a probability of 2^-64.
    ///
    /// Each step is reversible: the state is mixed with eight bytes, multiplied by an odd number and rotated. The
    /// checksum detects accidental damage, not manipulation. It takes a hundredth of the time of ``SHA256Digest``.
    private static func checksum(of record: Data, _ key: CacheKey) -> UInt64 {
        var sum: UInt64 = 0xCBF2_9CE4_8422_2325
        func add(_ word: UInt64) {
            sum = (sum ^ word) &* 0x9E37_79B9_7F4A_7C15
            sum = sum << 29 | sum >> 35
        }
        for byte in key.description.utf8 { add(UInt64(byte)) }
        add(UInt64(record.count))
        record.withUnsafeBytes { bytes in
            let whole = bytes.count & ~7
            for offset in stride(from: 0, to: whole, by: 8) {
                add(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
            }
            for offset in whole..<bytes.count { add(UInt64(bytes[offset])) }
        }
        return sum ^ sum >> 32
    }
}

extension UInt64 {
    init(littleEndianBytes bytes: Data) {
        self = bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}

/// A file that is still being written, before it becomes a record.
///
/// The process that writes it holds a lock on it, which ends with the process.
struct TemporaryCacheFile {
    let path: String
    let descriptor: Int32

    /// Returns nil if no file can be created.
    init?(in folder: String) {
        path = folder + CacheFile.temporaryName()
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return nil }
        flock(descriptor, LOCK_EX | LOCK_NB)
    }

    /// Closes the file after it has become a record.
    func release() { close(descriptor) }

    func discard() {
        unlink(path)
        close(descriptor)
    }

    /// Removes a file that no process has locked, because the process that wrote it has ended.
    static func removeIfAbandoned(_ path: String) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { unlink(path) }
    }
}

/// A lock that keeps other storages of the same folder, in any process, from changing records.
///
/// The system releases the lock of a process that ends, but not the lock of a process that is stopped.
struct CacheFolderLock {
    static let name = "lock"

    /// How often a patient caller tries to get the lock, with a pause of a millisecond between two tries.
    static let maximumTryCount = 250

    private let descriptor: Int32

    /// Tries to get the lock; returns nil if another process holds it for too long, or if the file cannot be locked.
    ///
    /// - Parameter isPatient: Whether to try ``maximumTryCount`` times instead of once.
    init?(in folder: String, isPatient: Bool, calls: CacheFileCalls) {
        descriptor = open(folder + Self.name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else { return nil }
        for number in 0..<(isPatient ? Self.maximumTryCount : 1) {
            if number > 0 { calls.pause() }
            if calls.lock(descriptor) == 0 { return }
            guard errno == EWOULDBLOCK || errno == EINTR else { break }
        }
        close(descriptor)
        return nil
    }

    func release() {
        // Closing alone is not enough: a process that is being started may have a copy of the descriptor.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}

/// The size of a file, and its last use.
struct FileStatus {
    let byteCount: Int
    /// The last use in nanoseconds since 1970.
    let time: Int64

    /// Returns nil if there is no file.
    init?(of path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    private init(_ status: stat) {
        byteCount = Int(clamping: status.st_size)
        #if canImport(Darwin)
        let modified = status.st_mtimespec
        #else
        let modified = status.st_mtim
        #endif
        time = Int64(modified.tv_sec) &* 1_000_000_000 &+ Int64(modified.tv_nsec)
    }
}
