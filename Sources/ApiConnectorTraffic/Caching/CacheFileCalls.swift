// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

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
