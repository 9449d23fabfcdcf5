// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiRequest {
    /// Tells how many bytes of the body were taken to be sent so far; your own transport calls it for each chunk.
    ///
    /// It says as well that the transport is alive, as ``reportProgress()`` does.
    public func reportSent(byteCount: Int) {
        reportProgress()
        values.uploadProgress?.report(byteCount, of: body.byteCount)
    }

    /// Tells that the whole body was taken to be sent; your own transport that hands it over in one piece calls it.
    ///
    /// Nothing happens where nobody watches the upload, and where the body's length is not known.
    public func reportBodySent() {
        guard let uploadProgress = values.uploadProgress, !body.isEmpty, let byteCount = body.byteCount else { return }
        uploadProgress.report(byteCount, of: byteCount)
    }
}
