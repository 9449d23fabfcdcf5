// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiConnectionType {
    /// Downloads a route's response to a file: a stream of progress that ends in the file.
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
    /// The bytes go to `.NAME.part` beside the file, which takes the file's place when it is whole and on the disk.
    /// Until then a file that was there before is not touched. Memory is one chunk and the transport's window, and a
    /// slow disk slows the server down where the transport can: see ``SystemProvider``.
    ///
    /// A connection that breaks off is resumed within the policy's limits, and a download that was canceled, that
    /// failed or whose process ended goes on with the next call to the same file and the same URL, secrets in it aside.
    /// Both ask for the rest by `Range` and `If-Range`, and need a GET whose response has a strong `ETag`, or a
    /// `Last-Modified` older than the response. Where the server sends the whole instead, or has another version, the
    /// file starts over. What cannot be resumed is removed when the download ends before its end. Compression is not
    /// asked for.
    ///
    /// Two downloads to one file at the same time are refused, in one process or in two. Each chunk is written by the
    /// thread that reads it, into the system's cache; the last wait for the disk is on its own thread, and a
    /// cancel does not end it: by then the file is whole, and is moved into its place.
    ///
    /// - Parameters:
    ///   - route: What to ask for.
    ///   - file: Where it goes; its folder has to be there.
    ///   - policy: How a break within this call is resumed; ``RetryPolicy/resumption`` by default, nil for not at all.
    ///   - options: What this call wants otherwise than its connection. The limit on a body's length does not hold
    ///     here.
    /// - Returns: A cold stream; it fails with kind `.other` where the file cannot be written, its underlying error is
    ///   then a `POSIXError`, such as `ENOSPC` for a disk that is full.
    public func download(
        at route: RouterType,
        to file: URL,
        resuming policy: RetryPolicy? = .resumption,
        options: CallOptions = CallOptions()
    ) -> ResponseStream<DownloadEvent> {
        download(.route(route), to: file, resuming: policy, options, calls: .system)
    }

    /// As ``download(at:to:resuming:options:)``, at a URL that a server returned; see
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
