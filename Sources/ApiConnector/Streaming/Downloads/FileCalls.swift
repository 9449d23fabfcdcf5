// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The system's file functions that a test replaces, for example to simulate a full disk.
struct FileCalls: Sendable {
    /// Like pwrite(2): takes a descriptor, bytes and an offset, and returns the number of bytes written, or -1 with
    /// `errno` set.
    var write: @Sendable (Int32, UnsafeRawBufferPointer, Int) -> Int

    /// Like flock(2): takes a descriptor, and locks its file without waiting; returns 0, or -1 with `errno` set.
    var lock: @Sendable (Int32) -> Int32 = { flock($0, LOCK_EX | LOCK_NB) }

    static let system = FileCalls { descriptor, bytes, offset in
        pwrite(descriptor, bytes.baseAddress, bytes.count, off_t(offset))
    }

    /// Writes bytes at an offset.
    ///
    /// - Returns: The number of bytes written, and the error number; 0 if all bytes were written.
    func write(_ data: Data, to descriptor: Int32, at offset: Int) -> (byteCount: Int, code: Int32) {
        data.withUnsafeBytes { bytes in
            var written = 0
            while written < bytes.count {
                let count = write(descriptor, UnsafeRawBufferPointer(rebasing: bytes[written...]), offset + written)
                let code = errno
                if count > 0 {
                    written += count
                } else if count == 0 || code != EINTR {
                    return (written, count == 0 ? EIO : code)
                }
            }
            return (written, 0)
        }
    }

    /// The kind of file at a path, such as `S_IFREG`; nil if there is none.
    static func kind(of path: String) -> mode_t? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
    }

    /// Whether a path leads to the file that is open, not through a symbolic link.
    static func isOpen(_ path: String, as descriptor: Int32) -> Bool {
        var (here, there) = (stat(), stat())
        return fstat(descriptor, &here) == 0 && lstat(path, &there) == 0
            && here.st_ino == there.st_ino && here.st_dev == there.st_dev
    }

    /// Flushes a file's bytes to the disk.
    ///
    /// On Apple's systems, fsync(2) leaves them in the cache of the disk. `F_FULLFSYNC` flushes that cache, too, but
    /// not every file system supports it.
    ///
    /// - Returns: 0, or -1 with `errno` set.
    static func synchronise(_ descriptor: Int32) -> Int32 {
        #if canImport(Darwin)
        if fcntl(descriptor, F_FULLFSYNC) != -1 { return 0 }
        #endif
        return fsync(descriptor)
    }

    /// Flushes a folder's entries to the disk if the system can.
    static func synchronise(folder: String) {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        _ = synchronise(descriptor)
        close(descriptor)
    }
}
