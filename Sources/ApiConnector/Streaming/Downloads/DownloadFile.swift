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

/// The paths of a download: its target, its part file, and the record of the part file.
struct DownloadPlace: Sendable {
    /// The path of the target's file; for a symbolic link, the path that the link leads to.
    let path: String
    /// The path that the caller named.
    private let name: String

    /// Checks a target before anything is sent.
    ///
    /// - Throws: ``ApiConnectorError`` of kind `.other` if a regular file cannot be at the target.
    init(of target: URL) throws(ApiConnectorError) {
        name = target.path(percentEncoded: false)
        guard target.isFileURL else { throw Self.failure(name, "it is not a file URL") }
        // Checks what a link leads to first: a link in /proc/self/fd may lead to a pipe, which has no path.
        switch FileCalls.kind(of: name) {
        case S_IFREG, nil: break
        case S_IFDIR: throw Self.failure(name, "it is a directory")
        default: throw Self.failure(name, "it exists and is not a regular file")
        }
        guard !name.hasSuffix("/") else { throw Self.failure(name, "its path ends with a slash") }
        path = try Self.followingLinks(from: name)
    }

    /// The folder of the file, with a slash at its end.
    var folder: String { path.lastIndex(of: "/").map { String(path[...$0]) } ?? "./" }

    private var fileName: Substring { path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? path[...] }

    var part: String { "\(folder).\(shortName).part" }
    var note: String { "\(part).json" }

    /// A part file that no other download uses, for a file system without locks.
    func makeUniquePart() -> String { "\(folder).\(UUID().uuidString).part" }

    /// The file's name; for a long name, its beginning and a checksum, so that the part file's name is not too long.
    private var shortName: String {
        let bytes = fileName.utf8
        // A name has at most 255 bytes, and `..part.json` takes 11 of them.
        guard bytes.count > 244 else { return String(fileName) }
        // FNV-1a. Equal checksums do no harm: the two files share a part file, which is locked.
        let sum = bytes.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        var start = fileName
        while start.utf8.count > 200 { start.removeLast() }
        return "\(start)-\(String(sum, radix: 16))"
    }

    /// The path of the file that a path leads to, which may not exist.
    private static func followingLinks(from name: String) throws(ApiConnectorError) -> String {
        var path = name
        for _ in 0..<40 {
            var status = stat()
            guard lstat(path, &status) == 0 else {
                // The file does not exist yet. Any other error would fail the download at its end.
                if errno == ENOENT { return path }
                throw failure(name, code: errno)
            }
            guard status.st_mode & S_IFMT == S_IFLNK else { return path }
            guard let next = try? FileManager.default.destinationOfSymbolicLink(atPath: path) else {
                throw failure(name, code: EIO)
            }
            let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
            path = next.hasPrefix("/") ? next : folder + next
        }
        throw failure(name, code: ELOOP)
    }

    func failure(_ reason: String) -> ApiConnectorError { Self.failure(name, reason) }

    func failure(code: Int32) -> ApiConnectorError { Self.failure(name, code: code) }

    private static func failure(_ path: String, code: Int32) -> ApiConnectorError {
        let underlying = POSIXErrorCode(rawValue: code).map { POSIXError($0) }
        return failure(path, String(cString: strerror(code)), underlying: underlying)
    }

    private static func failure(
        _ path: String,
        _ reason: String,
        underlying: (any Error)? = nil
    ) -> ApiConnectorError {
        ApiConnectorError(
            .other,
            at: .response,
            "the download cannot be written to \(path): \(reason)",
            underlying: underlying
        )
    }
}
