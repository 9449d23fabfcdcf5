// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiConnectionType {
    /// The pages of a list, one after the other, each its own call.
    ///
    /// ```swift
    /// for try await post in api.pages(of: [Post].self, from: .posts).elements { … }
    /// ```
    ///
    /// Cold and pulled as every stream: a page is asked for when the loop comes to it, and limits of time hold for each
    /// page. Where the server leads back to a page that was read already, the stream fails with kind `.other` behind
    /// the last new one. Take the sequence's `prefix(_:)` for a maximum. An error names its page, counted from 1.
    ///
    /// Wherever a server leads, credentials among the header fields go to the environment's own origin only, and those
    /// of the call's options to the origin of the first page only.
    ///
    /// - Parameters:
    ///   - type: What a page decodes as; left out where the context names it.
    ///   - route: The first page.
    ///   - next: How a page leads to the next; by the `Link` field by default.
    ///   - prefetching: Whether the next page is asked for while the loop reads one, so that one more than is read may
    ///     have been asked for; no by default.
    ///   - options: What these calls want otherwise than their connection.
    public func pages<Page: Decodable & Sendable>(
        of type: Page.Type = Page.self,
        from route: RouterType,
        next: NextPage<RouterType, Page> = .link,
        prefetching: Bool = false,
        options: CallOptions = CallOptions()
    ) -> ResponseStream<Page> {
        turn(.route(route), next, prefetching, options)
    }

    /// As ``pages(of:from:next:prefetching:options:)``, from a URL on, such as that of the page where a loop was left.
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

    /// As ``pages(of:from:next:prefetching:options:)``, with a call that fixes the type of a page.
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
