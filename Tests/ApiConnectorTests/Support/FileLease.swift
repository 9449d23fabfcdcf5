// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if os(Linux)
import ApiConnector
import Testing

/// A lease of this process on a file, as a file server has for its clients.
final class FileLease: Sendable {
    let file: URL
    private let descriptor: Int32

    init(on file: URL) throws {
        self.file = file
        descriptor = open(file.path(percentEncoded: false), O_RDWR | O_CLOEXEC)
        // F_SETSIG: the system announces the end of the lease by a signal that is ignored by default.
        try #require(descriptor >= 0 && fcntl(descriptor, 10, SIGURG) == 0)
        // F_SETLEASE. A process that another test starts has a copy of the descriptor until it calls `exec`.
        while fcntl(descriptor, 1024, F_WRLCK) != 0 {
            try #require(errno == EAGAIN)
            sched_yield()
        }
    }

    /// Whether another descriptor waits for the end of the lease (F_GETLEASE).
    var isBreaking: Bool { fcntl(descriptor, 1025) != F_WRLCK }

    /// Whether the file still cannot be opened.
    var isHeld: Bool {
        let other = open(file.path(percentEncoded: false), O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        let isHeld = other < 0 && errno == EWOULDBLOCK
        if other >= 0 { close(other) }
        return isHeld
    }

    func end() { _ = fcntl(descriptor, 1024, F_UNLCK) }

    deinit { close(descriptor) }
}
#endif
