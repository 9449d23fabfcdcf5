// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiConnectionType {
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
