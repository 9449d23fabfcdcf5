// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A file that was downloaded completely.
public struct DownloadedFile: Sendable, Hashable {
    /// The location of the file.
    public let file: URL

    /// The length of the file in bytes.
    public let byteCount: Int

    /// The head of the last response; its status is 206 if the download was resumed.
    public let head: ResponseHead

    /// Makes a value, for example for a test.
    public init(file: URL, byteCount: Int, head: ResponseHead) {
        self.file = file
        self.byteCount = byteCount
        self.head = head
    }
}
