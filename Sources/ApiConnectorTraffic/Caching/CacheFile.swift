// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// How a record is in a file.
enum CacheFile {
    private static let mark = Array("ApiConnector cache file 1\n".utf8)

    static func name(of key: CacheKey) -> String { "\(key).record" }

    static func key(of name: String) -> CacheKey? {
        name.hasSuffix(".record") ? CacheKey(name.dropLast(".record".count)) : nil
    }

    static func temporaryName() -> String { "\(UUID().uuidString).new" }

    static func isTemporary(_ name: String) -> Bool { name.hasSuffix(".new") && name.utf8.count == 40 }

    /// Mark, checksum, record.
    static func bytes(of record: Data, for key: CacheKey) -> Data {
        var bytes = Data(mark)
        withUnsafeBytes(of: checksum(of: record, key).littleEndian) { bytes.append(contentsOf: $0) }
        bytes.append(record)
        return bytes
    }

    static func byteCount(of record: Data) -> Int { mark.count + 8 + record.count }

    /// Nil for a file that is not this key's, whole and as it was written.
    static func record(in bytes: Data, of key: CacheKey) -> Data? {
        guard bytes.count >= mark.count + 8, bytes.starts(with: mark) else { return nil }
        let sum = UInt64(littleEndianBytes: bytes.dropFirst(mark.count).prefix(8))
        let record = bytes.dropFirst(mark.count + 8)
        return sum == checksum(of: record, key) ? record : nil
    }

    /// Over a key, a length and the bytes, eight at a time: a change in any eight changes it for certain, any other
    /// change all but once in 2^64 times.
    ///
    /// Each step is one to one: the state is mixed with eight bytes, multiplied by an odd number and rotated. It guards
    /// against accidents, not against a program that can write the file, and costs a hundredth of ``SHA256Digest``.
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

/// A file that is not yet a record: locked as long as the process that writes it lives.
struct TemporaryCacheFile {
    let path: String
    let descriptor: Int32

    /// Nil where there can be none.
    init?(in folder: String) {
        path = folder + CacheFile.temporaryName()
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return nil }
        flock(descriptor, LOCK_EX | LOCK_NB)
    }

    /// Lets go of it where it has become a record.
    func release() { close(descriptor) }

    func discard() {
        unlink(path)
        close(descriptor)
    }

    /// Removes one whose process is gone: the system has taken its lock away.
    static func removeIfAbandoned(_ path: String) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { unlink(path) }
    }
}

/// What keeps other storages of a folder, of whatever process, from changing records: a lock that the system takes away
/// from a process that ends.
struct CacheFolderLock {
    static let name = "lock"

    private let descriptor: Int32

    /// Waits for it, as long as another one needs for one record; nil where there can be none.
    init?(in folder: String) {
        descriptor = open(folder + Self.name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else { return nil }
        while flock(descriptor, LOCK_EX) != 0 {
            if errno == EINTR { continue }
            close(descriptor)
            return nil
        }
    }

    func release() {
        // Not by closing it alone: a process that is being started may have it, too, for a moment.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}

/// What a file is, and how large.
struct FileStatus {
    let byteCount: Int
    let isPlain: Bool
    /// The last use in nanoseconds since 1970.
    let time: Int64

    /// Nil where there is none.
    init?(of path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    init?(of descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    private init(_ status: stat) {
        byteCount = Int(clamping: status.st_size)
        isPlain = status.st_mode & S_IFMT == S_IFREG
        #if canImport(Darwin)
        let modified = status.st_mtimespec
        #else
        let modified = status.st_mtim
        #endif
        time = Int64(modified.tv_sec) &* 1_000_000_000 &+ Int64(modified.tv_nsec)
    }
}
