// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// Reads regular files without waiting for another process.
enum RegularFile {
    /// The bytes of a file.
    ///
    /// - Parameters:
    ///   - maximumByteCount: The largest accepted size in bytes; no limit by default.
    ///   - use: Called with the open descriptor before the file is read; does nothing by default.
    /// - Throws: `POSIXError`: `EFBIG` for a larger file, `EINVAL` for a pipe or a folder, `ELOOP` for a symbolic link,
    ///   `EAGAIN` if another process has a lease on the file.
    static func contents(
        of path: String,
        upTo maximumByteCount: Int = .max,
        _ use: (Int32) -> Void = { _ in }
    ) throws(POSIXError) -> Data {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { throw failure(errno) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure(errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw failure(EINVAL) }
        guard status.st_size <= maximumByteCount else { throw failure(EFBIG) }
        use(descriptor)
        var bytes = Data(count: Int(clamping: status.st_size))
        let code = bytes.withUnsafeMutableBytes { buffer -> Int32 in
            var count = 0
            while count < buffer.count {
                let added = pread(descriptor, buffer.baseAddress.map { $0 + count }, buffer.count - count, off_t(count))
                if added < 0, errno == EINTR { continue }
                // The file has become shorter.
                guard added != 0 else { return EIO }
                guard added > 0 else { return errno }
                count += added
            }
            return 0
        }
        guard code == 0 else { throw failure(code) }
        return bytes
    }

    private static func failure(_ code: Int32) -> POSIXError { POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO) }
}
