// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiConnectionType {
    /// Downloads a route's response to a file.
    ///
    /// The stream delivers the progress and finally the file.
    ///
    /// ```swift
    /// for try await event in api.download(at: .export, to: file) {
    ///     switch event {
    ///     case .progress(let progress): show(progress.fractionCompleted)
    ///     case .finished(let done): show(done.file)
    ///     }
    /// }
    /// ```
    ///
    /// The bytes are written to `.NAME.part` in the folder of the file. When they are complete and on the disk, this
    /// part file replaces the file, and gets its permissions. Until then, an existing file is not touched. A symbolic link
    /// stays, and the file that it leads to is replaced. The memory in use is one chunk and the transport's window. If the disk is slow, a transport with back-pressure slows the server down; see
    /// <doc:DownloadsAndUploads>.
    ///
    /// A download is resumed in two cases:
    ///
    /// - The connection breaks: this call resumes it, within the limits of the policy.
    /// - The download was canceled, it failed, or its process ended: the next call to the same file and the same URL
    ///   resumes it. The comparison of the URLs ignores a signature and an `access_token` in the query.
    ///
    /// In both cases, the request asks for the rest with `Range` and `If-Range`. This requires a GET whose response has
    /// a strong `ETag`, or a `Last-Modified` date older than the response. The download starts over if the server sends
    /// the whole body or has another version. If the download fails and its part file cannot be resumed, the part file
    /// is removed. The request does not accept a compressed response.
    ///
    /// A second download to the same file at the same time fails, in the same process or in another one. The part file
    /// is opened and locked when the response arrives. If the file system has no locks, the part file has a unique name,
    /// and only this call resumes the download. Each chunk is
    /// written to the system's page cache on the thread that reads it. The final wait for the disk runs on a separate
    /// thread. A cancellation does not end this wait: the file is already complete, and is still moved into place.
    ///
    /// - Parameters:
    ///   - route: The route to request.
    ///   - file: The file to write; its folder has to exist.
    ///   - policy: How this call resumes the download after the connection breaks; ``RetryPolicy/resumption`` by
    ///     default, nil to never resume.
    ///   - options: Options of this call. The limit on the size of a body does not apply.
    /// - Returns: A cold stream. If the file cannot be written, it fails with kind `.other` and a `POSIXError` as the
    ///   underlying error, such as `ENOSPC` for a full disk.
    public func download(
        at route: RouterType,
        to file: URL,
        resuming policy: RetryPolicy? = .resumption,
        options: CallOptions = CallOptions()
    ) -> ResponseStream<DownloadEvent> {
        download(.route(route), to: file, resuming: policy, options, calls: .system)
    }

    /// Like ``download(at:to:resuming:options:)``, for a URL that a server returned; see
    /// ``value(_:at:method:body:options:)``.
    @_disfavoredOverload
    public func download(
        at url: URL,
        method: HTTPMethod = .get,
        body: RequestBody = .empty,
        to file: URL,
        resuming policy: RetryPolicy? = .resumption,
        options: CallOptions = CallOptions()
    ) -> ResponseStream<DownloadEvent> {
        download(.url(url, method, body), to: file, resuming: policy, options, calls: .system)
    }

    func download(
        _ target: CallTarget<RouterType>,
        to file: URL,
        resuming policy: RetryPolicy?,
        _ options: CallOptions,
        calls: FileCalls
    ) -> ResponseStream<DownloadEvent> {
        let pipeline = StreamPipeline(self, target, options)
        return ResponseStream { () async throws(ApiConnectorError) in
            try await pipeline.download(to: file, resuming: policy, calls: calls)
        }
    }
}
