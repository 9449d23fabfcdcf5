// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The system's calls for files, as far as a test has to replace them: a full disk.
struct FileCalls: Sendable {
    /// pwrite(2): descriptor, bytes, offset; the number of bytes written, or -1 with `errno` set.
    var write: @Sendable (Int32, UnsafeRawBufferPointer, Int) -> Int

    static let system = FileCalls { descriptor, bytes, offset in
        pwrite(descriptor, bytes.baseAddress, bytes.count, off_t(offset))
    }

    /// Writes bytes from an offset on.
    ///
    /// - Returns: How many were written, and why not all of them; 0 where all were.
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

    /// What there is at a path, as `S_IFREG` and the like; nil for nothing.
    static func kind(of path: String) -> mode_t? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
    }

    /// Whether a path leads to the very file that is open.
    static func isOpen(_ path: String, as descriptor: Int32) -> Bool {
        var (here, there) = (stat(), stat())
        return fstat(descriptor, &here) == 0 && stat(path, &there) == 0
            && here.st_ino == there.st_ino && here.st_dev == there.st_dev
    }

    /// Writes a file's bytes to the disk.
    ///
    /// On Apple's systems, fsync(2) leaves them in the disk's own cache. `F_FULLFSYNC` does not, but not every file system
    /// has it.
    ///
    /// - Returns: 0, or -1 with `errno` set.
    static func synchronise(_ descriptor: Int32) -> Int32 {
        #if canImport(Darwin)
        if fcntl(descriptor, F_FULLFSYNC) != -1 { return 0 }
        #endif
        return fsync(descriptor)
    }

    /// Writes a folder's entries to the disk, where the system can.
    static func synchronise(folder: String) {
        let descriptor = open(folder, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        _ = synchronise(descriptor)
        close(descriptor)
    }
}
