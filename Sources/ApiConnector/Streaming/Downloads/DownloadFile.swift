// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// An open part file, locked against other downloads.
struct DownloadFile: Sendable {
    let path: String
    let descriptor: Int32
    /// Whether the file is locked; false if the file system has no locks.
    ///
    /// No other download uses a file without a lock, because its name is unique.
    let isLocked: Bool
    private let note: String

    /// Opens or creates the part file of a place, and locks it.
    ///
    /// - Throws: ``ApiConnectorError`` of kind `.other` if the file cannot be written, or if another download to the
    ///   target is running.
    static func locking(_ place: DownloadPlace, _ calls: FileCalls) throws(ApiConnectorError) -> DownloadFile {
        let part = place.part
        while true {
            let descriptor = open(part, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o666)
            guard descriptor >= 0 else {
                let code = errno
                guard code == EWOULDBLOCK else { throw place.failure(code: code) }
                throw place.failure("another process has a lease on its part file")
            }
            let file = DownloadFile(path: part, descriptor: descriptor, isLocked: true, note: place.note)
            var failure: ApiConnectorError?
            if calls.lock(descriptor) != 0 {
                switch errno {
                case EINTR:
                    break
                case EWOULDBLOCK:
                    failure = place.failure("another download to it is running")
                default:
                    if file.byteCount == 0 { unlink(part) }
                    file.close()
                    return try unique(place)
                }
            } else if FileCalls.kind(of: part) != S_IFREG, FileCalls.kind(of: part) != nil {
                failure = place.failure("\(part) exists and is not a regular file")
            } else if file.isInPlace {
                return file
            }
            file.close()
            // Without an error, try again: the download that had the lock has moved or removed the file meanwhile.
            if let failure { throw failure }
        }
    }

    /// Creates a part file for a file system without locks.
    private static func unique(_ place: DownloadPlace) throws(ApiConnectorError) -> DownloadFile {
        let path = place.makeUniquePart()
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o666)
        guard descriptor >= 0 else { throw place.failure(code: errno) }
        return DownloadFile(path: path, descriptor: descriptor, isLocked: false, note: place.note)
    }

    /// Whether the path still leads to the open file, and not to another process's file.
    var isInPlace: Bool { FileCalls.isOpen(path, as: descriptor) }

    var byteCount: Int { Int(clamping: lseek(descriptor, 0, SEEK_END)) }

    /// The record next to the file; nil if there is none, if it is damaged, or if it is larger than 64 KiB.
    ///
    /// Neither a link is followed, nor is a pipe or a file with another process's lease waited for.
    var record: DownloadRecord? {
        let descriptor = open(note, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= 64 * 1024,
            let data = try? file.read(upToCount: 64 * 1024)
        else { return nil }
        return try? JSONDecoder().decode(DownloadRecord.self, from: data)
    }

    /// Gives the file the permissions, the owner and the group of an existing file, as far as the system allows it.
    ///
    /// - Parameter more: More permissions to add.
    func copyPermissions(of existing: String, adding more: mode_t = 0) {
        var (old, new) = (stat(), stat())
        guard lstat(existing, &old) == 0, fstat(descriptor, &new) == 0 else { return }
        // Not the bits that give a program its owner's rights: a server chose these bytes.
        var mode = old.st_mode & 0o777
        // Permissions for one group must not become permissions for another group.
        if old.st_uid != new.st_uid || old.st_gid != new.st_gid, fchown(descriptor, old.st_uid, old.st_gid) != 0,
            old.st_gid != new.st_gid
        {
            mode &= ~0o070
        }
        fchmod(descriptor, mode | more)
    }

    /// Removes the file and its record from the folder, unless the path leads to another file.
    func remove() {
        guard isInPlace else { return }
        unlink(path)
        if isLocked { unlink(note) }
    }

    /// Removes this file's record if the path leads to another file: a later run would append to that one.
    func removeRecordOfOtherPart(_ own: DownloadRecord?) {
        if isLocked, !isInPlace, let own, record == own { unlink(note) }
    }

    /// Closes the file and releases its lock.
    func close() {
        // Unlocks explicitly, because a child process that is being started has a copy of the descriptor, which would
        // keep the lock.
        if isLocked { flock(descriptor, LOCK_UN) }
        closeFile(descriptor)
    }
}

// The method of the same name hides the function of the C library.
private func closeFile(_ descriptor: Int32) { close(descriptor) }
