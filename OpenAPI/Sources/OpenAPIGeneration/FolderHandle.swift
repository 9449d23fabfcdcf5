// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

internal import Foundation

/// An open folder, whose files are read and written without following symbolic links.
///
/// A name is relative to the open folder. So the folder stays the same if another process replaces a part of its path by
/// a link.
final class FolderHandle {
    private let descriptor: Int32

    private init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Opens a folder.
    ///
    /// Symbolic links in this path are followed.
    convenience init(at path: String) throws(POSIXError) {
        self.init(try Self.checked(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)))
    }

    /// Opens a folder in this folder, and makes it if it is missing.
    func folder(_ name: String, creating: Bool) throws(POSIXError) -> FolderHandle {
        if creating, mkdirat(descriptor, name, 0o777) != 0, errno != EEXIST { throw Self.lastError }
        let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
        return FolderHandle(try Self.checked(openat(descriptor, name, flags)))
    }

    /// The type of a file, such as `S_IFREG`; nil if there is no file.
    func kind(of name: String) throws(POSIXError) -> mode_t? {
        try mode(of: name).map { $0 & S_IFMT }
    }

    private func mode(of name: String) throws(POSIXError) -> mode_t? {
        var status = stat()
        if fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 { return status.st_mode }
        guard errno == ENOENT else { throw Self.lastError }
        return nil
    }

    /// The content of a regular file; nil if there is no regular file.
    func contents(of name: String) throws -> Data? {
        guard try kind(of: name) == S_IFREG else { return nil }
        // Without O_NONBLOCK, a pipe that has just replaced the file would block.
        let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
        let file = FileHandle(
            fileDescriptor: try Self.checked(openat(descriptor, name, flags)),
            closeOnDealloc: true
        )
        return try file.readToEnd() ?? Data()
    }

    /// Writes a file in one step: a reader sees the old content or the new one.
    ///
    /// A replaced file keeps its permissions. Its other names (hard links) keep the old content.
    func replace(_ name: String, with data: Data) throws {
        let temporary = ".apiconnector-openapi-\(UUID().uuidString)"
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC
        let file = FileHandle(
            fileDescriptor: try Self.checked(openat(descriptor, temporary, flags, 0o666)),
            closeOnDealloc: true
        )
        do {
            if let mode = try mode(of: name), mode & S_IFMT == S_IFREG {
                _ = try Self.checked(fchmod(file.fileDescriptor, mode & 0o777))
            }
            try file.write(contentsOf: data)
            try file.close()
            _ = try Self.checked(renameat(descriptor, temporary, descriptor, name))
        } catch {
            unlinkat(descriptor, temporary, 0)
            throw error
        }
    }

    /// Removes a file; for a link, the link itself.
    func remove(_ name: String) throws(POSIXError) {
        _ = try Self.checked(unlinkat(descriptor, name, 0))
    }

    private static var lastError: POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }

    private static func checked(_ result: Int32) throws(POSIXError) -> Int32 {
        guard result >= 0 else { throw lastError }
        return result
    }
}

extension DocumentError {
    static let danglingLink = "it is a symbolic link that leads nowhere"

    /// Says that a file cannot be changed, with the system's reason.
    ///
    /// An error that already is a `DocumentError` stays as it is.
    init(changing path: String, _ error: any Error) {
        if let error = error as? DocumentError {
            self = error
            return
        }
        let underlying = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError
        let code = (error as? POSIXError)?.code ?? underlying.flatMap { POSIXErrorCode(rawValue: Int32($0.code)) }
        self.init(changing: path, code.map { String(cString: strerror($0.rawValue)) } ?? error.localizedDescription)
    }

    init(changing path: String, _ reason: String) {
        self.init("\(path) cannot be changed: \(reason)")
    }
}
