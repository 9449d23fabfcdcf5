// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// An event of a download: the progress, and finally the file.
public enum DownloadEvent: Sendable, Hashable {
    /// More bytes are in the part file.
    ///
    /// The count starts with the bytes of an earlier run. It returns to 0 if the server now has another version.
    case progress(TransferProgress)

    /// The file is complete and in its place; the last element.
    case finished(DownloadedFile)
}

extension ResponseStream<DownloadEvent> {
    /// Downloads to the end and returns the file.
    ///
    /// Canceling the task ends the download immediately with kind `.cancelled`.
    @concurrent
    public func file() async throws(ApiConnectorError) -> DownloadedFile {
        for try await event in self {
            if case .finished(let file) = event { return file }
        }
        throw ApiConnectorError(.cancelled, at: .response, "the download ended before its file was complete")
    }
}
