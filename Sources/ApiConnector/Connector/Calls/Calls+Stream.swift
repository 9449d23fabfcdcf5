// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

// The calls that return a stream: stream, download and pages.

extension ApiConnectionType {
    /// Streams the values of a route's response.
    ///
    /// The media type of the response decides whether there are several values or one; see ``StreamFormat/automatic``.
    /// The stream is cold: each iteration sends the request again. Leaving the loop closes the connection. Canceling the
    /// task that iterates ends the call with kind `.cancelled`, after the loop has taken the elements that are already
    /// decoded.
    public func stream<Value: Decodable & Sendable>(
        of type: Value.Type = Value.self,
        at route: RouterType,
        options: CallOptions = CallOptions()
    ) -> ResponseStream<Value> {
        makeStream(.route(route), .automatic, options)
    }

    /// Like ``stream(of:at:options:)``, for a URL that a server returned; see ``value(_:at:method:body:options:)``.
    @_disfavoredOverload
    public func stream<Value: Decodable & Sendable>(
        of type: Value.Type = Value.self,
        at url: URL,
        method: HTTPMethod = .get,
        body: RequestBody = .empty,
        options: CallOptions = CallOptions()
    ) -> ResponseStream<Value> {
        makeStream(.url(url, method, body), .automatic, options)
    }

    /// Like ``stream(of:at:options:)``, with an ``ApiCall``, whose value type is fixed.
    public func stream<Value: Decodable & Sendable>(
        _ call: ApiCall<RouterType, Value>,
        options: CallOptions = CallOptions()
    ) -> ResponseStream<Value> {
        makeStream(call.target, .automatic, options)
    }

    /// Streams the elements of a route's response in the given format.
    ///
    /// ```swift
    /// for try await post in api.stream(of: Post.self, at: .posts, as: .elements) { … }
    /// ```
    ///
    /// The stream delivers each element as soon as its last byte has arrived. It fails if no data arrives for longer
    /// than ``Timeouts/stall``. Otherwise it behaves like ``stream(of:at:options:)``.
    ///
    /// - Parameters:
    ///   - type: The type of the elements; can be left out if the format or the context names it.
    ///   - route: The route to request.
    ///   - format: How bytes become elements, and what happens to a record that does not decode.
    ///   - options: Options of this call.
    public func stream<Element: Sendable>(
        of type: Element.Type = Element.self,
        at route: RouterType,
        as format: StreamFormat<Element>,
        options: CallOptions = CallOptions()
    ) -> ResponseStream<Element> {
        makeStream(.route(route), format, options)
    }

    /// Like ``stream(of:at:as:options:)``, for a URL that a server returned; see ``value(_:at:method:body:options:)``.
    @_disfavoredOverload
    public func stream<Element: Sendable>(
        of type: Element.Type = Element.self,
        at url: URL,
        method: HTTPMethod = .get,
        body: RequestBody = .empty,
        as format: StreamFormat<Element>,
        options: CallOptions = CallOptions()
    ) -> ResponseStream<Element> {
        makeStream(.url(url, method, body), format, options)
    }

    /// Like ``stream(of:at:as:options:)``, with an ``ApiCall``, whose element type is fixed.
    public func stream<Element: Sendable>(
        _ call: ApiCall<RouterType, Element>,
        as format: StreamFormat<Element>,
        options: CallOptions = CallOptions()
    ) -> ResponseStream<Element> {
        makeStream(call.target, format, options)
    }

    private func makeStream<Element>(
        _ target: CallTarget<RouterType>,
        _ format: StreamFormat<Element>,
        _ options: CallOptions
    ) -> ResponseStream<Element> {
        let pipeline = StreamPipeline(self, target, options)
        return ResponseStream { () async throws(ApiConnectorError) in try await pipeline.open(as: format) }
    }

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

    /// Requests the pages of a list one after the other, each with its own call.
    ///
    /// ```swift
    /// for try await post in api.pages(of: [Post].self, from: .posts).elements { … }
    /// ```
    ///
    /// The stream is cold and pulled: it requests a page when the loop needs it. The time limits apply to each page.
    /// Use the sequence's `prefix(_:)` to limit the number of pages.
    ///
    /// If a page links to a page that was already read, the stream fails with kind `.other` after the last new page. An
    /// error's text contains the number of the page that failed, counted from 1.
    ///
    /// If the server's URL for a following page has the origin of the first page, the request gets the header fields
    /// and credentials of the first route.
    ///
    /// Credentials in the default header fields of the environment and the connection are sent only to the
    /// environment's own origin. Credentials in the call's options are sent only to the origin of the first page.
    ///
    /// - Parameters:
    ///   - type: The type of a page; can be left out if the context names it.
    ///   - route: The route of the first page.
    ///   - next: How to find the next page; through the `Link` field by default.
    ///   - prefetching: Whether to request the next page while the loop processes the current one; false by default.
    ///     When the loop ends early, one extra page may have been requested.
    ///   - options: Options of these calls.
    public func pages<Page: Decodable & Sendable>(
        of type: Page.Type = Page.self,
        from route: RouterType,
        next: NextPage<RouterType, Page> = .link,
        prefetching: Bool = false,
        options: CallOptions = CallOptions()
    ) -> ResponseStream<Page> {
        turn(.route(route), next, prefetching, options)
    }

    /// Like ``pages(of:from:next:prefetching:options:)``, starting at a URL, such as the URL of the last page that was
    /// read.
    @_disfavoredOverload
    public func pages<Page: Decodable & Sendable>(
        of type: Page.Type = Page.self,
        from url: URL,
        method: HTTPMethod = .get,
        body: RequestBody = .empty,
        next: NextPage<RouterType, Page> = .link,
        prefetching: Bool = false,
        options: CallOptions = CallOptions()
    ) -> ResponseStream<Page> {
        turn(.url(url, method, body), next, prefetching, options)
    }

    /// Like ``pages(of:from:next:prefetching:options:)``, with an ``ApiCall``, whose page type is fixed.
    public func pages<Page: Decodable & Sendable>(
        from call: ApiCall<RouterType, Page>,
        next: NextPage<RouterType, Page> = .link,
        prefetching: Bool = false,
        options: CallOptions = CallOptions()
    ) -> ResponseStream<Page> {
        turn(call.target, next, prefetching, options)
    }

    private func turn<Page: Decodable & Sendable>(
        _ first: CallTarget<RouterType>,
        _ next: NextPage<RouterType, Page>,
        _ prefetching: Bool,
        _ options: CallOptions
    ) -> ResponseStream<Page> {
        let cursor = PageCursor<Self, Page>(self, from: first, options: options)
        return ResponseStream(source: { PageSource(from: cursor, next: next, prefetches: prefetching) })
    }
}
