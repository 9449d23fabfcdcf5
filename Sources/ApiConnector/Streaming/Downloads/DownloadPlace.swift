// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

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
