// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiRequest {
    /// Reports how many bytes of the body were accepted for sending so far; your own transport calls it for each chunk.
    ///
    /// It also restarts the stall timeout, like ``reportProgress()``.
    public func reportSent(byteCount: Int) {
        reportProgress()
        values.uploadProgress?.report(byteCount, of: body.byteCount)
    }

    /// Reports that the whole body was accepted for sending; your own transport calls it if it sends a body in one
    /// piece.
    ///
    /// It does nothing if there is no upload progress, if the body is empty, or if its length is unknown.
    public func reportBodySent() {
        guard let uploadProgress = values.uploadProgress, !body.isEmpty, let byteCount = body.byteCount else { return }
        uploadProgress.report(byteCount, of: byteCount)
    }
}
