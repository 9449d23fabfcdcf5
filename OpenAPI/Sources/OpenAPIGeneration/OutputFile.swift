// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import Foundation

/// The file to which a converted document is written.
///
/// The user names the path, so symbolic links in it are followed.
public struct OutputFile {
    private let path: String

    /// Makes a value for a file.
    public init(_ file: URL) {
        path = file.path(percentEncoded: false)
    }

    /// Whether this is a regular file with this content.
    public func contains(_ data: Data) -> Bool {
        guard let (folder, name) = try? place() else { return false }
        return (try? folder.contents(of: name)) == data
    }

    /// Writes the file in one step.
    ///
    /// - Throws: ``DocumentError`` if the file cannot be written; the file is then unchanged.
    public func write(_ data: Data) throws {
        // Checked first: a link in /dev/fd may lead to a pipe, which has no path.
        var status = stat()
        guard stat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG else {
            throw DocumentError(changing: path, "it is not a regular file")
        }
        let (folder, name) = try place()
        do {
            guard try folder.kind(of: name) != S_IFLNK else {
                throw DocumentError(changing: path, DocumentError.danglingLink)
            }
            try folder.replace(name, with: data)
        } catch {
            throw DocumentError(changing: path, error)
        }
    }

    /// The folder and the name of the file that the path leads to.
    private func place() throws(DocumentError) -> (folder: FolderHandle, name: String) {
        let resolved = realpath(path, nil)
        defer { free(resolved) }
        let target = resolved.map { String(cString: $0) } ?? path
        let slash = target.lastIndex(of: "/")
        let folder = slash.map { String(target[...$0]) } ?? "."
        let name = slash.map { String(target[target.index(after: $0)...]) } ?? target
        do throws(POSIXError) {
            return (try FolderHandle(at: folder), name)
        } catch {
            throw DocumentError(changing: path, error)
        }
    }
}
