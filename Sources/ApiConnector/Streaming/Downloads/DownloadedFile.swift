// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A file that was downloaded whole.
public struct DownloadedFile: Sendable, Hashable {
    /// Where it is.
    public let file: URL

    /// Its length in bytes.
    public let byteCount: Int

    /// The head of the last response: of status 206 where the download was resumed.
    public let head: ResponseHead

    /// Makes a value, such as for a test.
    public init(file: URL, byteCount: Int, head: ResponseHead) {
        self.file = file
        self.byteCount = byteCount
        self.head = head
    }
}
