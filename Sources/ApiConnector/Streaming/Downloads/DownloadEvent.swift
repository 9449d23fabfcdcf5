// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// What a download returns: how far it has come, and at the end the file.
public enum DownloadEvent: Sendable, Hashable {
    /// More bytes are in the part file.
    ///
    /// The count begins with what an earlier run has left, and goes back to 0 where the server has another version now.
    case progress(TransferProgress)

    /// The file is whole and in its place; the last element.
    case finished(DownloadedFile)
}

extension ResponseStream<DownloadEvent> {
    /// Downloads to the end, and gives the file.
    ///
    /// Canceling the task ends the download at once with kind `.cancelled`.
    @concurrent
    public func file() async throws(ApiConnectorError) -> DownloadedFile {
        for try await event in self {
            if case .finished(let file) = event { return file }
        }
        throw ApiConnectorError(.cancelled, at: .response, "the download ended before its file was complete")
    }
}
