// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A loop over a backend's pages.
///
/// With prefetching, it requests the next page while the caller processes the current one.
final class PageSource<Connection: ApiConnectionType, Page: Decodable & Sendable>: BatchSource {
    private typealias Cursor = PageCursor<Connection, Page>
    private typealias Prefetch = Task<Result<(DecodedResponse<Page>, Cursor), ApiConnectorError>, Never>

    private enum State: Sendable {
        case ready(Cursor)
        case prefetching(Prefetch)
        case busy
        case over
    }

    private let next: NextPage<Connection.RouterType, Page>
    private let prefetches: Bool
    private let state: Locked<State>

    init(
        from cursor: PageCursor<Connection, Page>,
        next: NextPage<Connection.RouterType, Page>,
        prefetches: Bool
    ) {
        self.next = next
        self.prefetches = prefetches
        state = Locked(.ready(cursor))
    }

    deinit {
        state.withLock { state in
            if case .prefetching(let task) = state { task.cancel() }
        }
    }

    /// Each batch is one page.
    @concurrent
    func nextBatch() async throws(ApiConnectorError) -> [Page] {
        let before = state.withLock { state in
            defer { state = .busy }
            return state
        }
        // An error ends the stream.
        var after = State.over
        defer { state.withLock { $0 = after } }
        let page: DecodedResponse<Page>
        var cursor: Cursor
        switch before {
        case .ready(let ready):
            cursor = ready
            page = try await cursor.fetch()
        case .prefetching(let task):
            let result = await withTaskCancellationHandler {
                await task.value
            } onCancel: {
                task.cancel()
            }
            (page, cursor) = try result.get()
        case .busy: throw ApiConnectorError(.other, at: .response, "two tasks read one stream at the same time")
        case .over: return []
        }
        if let target = next.target(page, cursor.number) {
            cursor.advance(to: target)
            after = prefetches ? .prefetching(Self.prefetch(cursor)) : .ready(cursor)
        }
        return [page.value]
    }

    private static func prefetch(_ cursor: Cursor) -> Prefetch {
        Task {
            var cursor = cursor
            do throws(ApiConnectorError) {
                let page = try await cursor.fetch()
                return .success((page, cursor))
            } catch {
                return .failure(error)
            }
        }
    }
}

/// The position of a loop over a backend's pages.
struct PageCursor<Connection: ApiConnectionType, Page: Decodable & Sendable>: Sendable {
    typealias Router = Connection.RouterType

    private let connection: Connection
    private let options: CallOptions
    private var target: Result<CallTarget<Router>, InvalidPageLink>
    /// The number of the next page to request, counted from 1.
    private(set) var number = 1
    private var history = PageHistory()
    /// The origin of the first page.
    private var origin: HTTPOrigin?
    /// Whether the latest page came over https.
    private var isEncrypted = false
    /// The request whose response is the latest page; nil before the first page.
    private var previous: ApiRequest?
    /// The route of the latest page that has one; nil if the list starts at a URL.
    private var route: Router?

    init(_ connection: Connection, from first: CallTarget<Router>, options: CallOptions) {
        self.connection = connection
        self.options = options
        target = .success(first)
    }

    mutating func advance(to target: Result<CallTarget<Router>, InvalidPageLink>) {
        self.target = target
        number += 1
    }

    /// Requests the page.
    ///
    /// - Throws: ``ApiConnectorError`` with the number of the page.
    mutating func fetch() async throws(ApiConnectorError) -> DecodedResponse<Page> {
        do throws(ApiConnectorError) {
            let previous = self.previous
            let target = try self.target.mapError { ApiConnectorError.pageIsNoURL($0.text, previous) }.get()
            let settings = CallSettings(connection, options)
            let builder = RequestBuilder(settings: settings)
            var draft = try builder.draft(of: target, in: connection.environment)
            if case .url = target, let previous, HTTPOrigin(draft.url) == nil {
                throw .pageIsNoURL(draft.url.absoluteString, previous)
            }
            let isForeign = isForeign(draft)
            if case .route(let own) = target {
                route = own
            } else if let route, !isForeign {
                builder.continuePages(of: route, in: connection.environment, to: &draft)
            }
            let pipeline = isForeign ? CallPipeline(connection, foreignOptions) : CallPipeline(settings)
            let request = try pipeline.builder.complete(draft, .acceptingJSON)
            if isEncrypted, case .url = target, HTTPOrigin(request.url)?.scheme != .https,
                !connection.configuration.redirects.allowsInsecure
            {
                throw .pageIsInsecure(request)
            }
            guard history.insert(request) else { throw .pagesGoRound(request) }
            let (page, sent) = try await pipeline.run(request) { (reader) throws(ApiConnectorError) in
                let page = DecodedResponse(value: try reader.read(Page.self), head: reader.response.head)
                return (page, reader.response.request)
            }
            self.previous = sent
            isEncrypted = HTTPOrigin(page.url)?.scheme == .https
            return page
        } catch {
            throw error.onPage(number)
        }
    }

    /// Whether the server has linked to another origin.
    private mutating func isForeign(_ draft: ApiRequest) -> Bool {
        let target = HTTPOrigin(draft.url)
        if number == 1 { origin = target }
        return target != origin
    }

    /// The call's options without the call's own credentials.
    private var foreignOptions: CallOptions {
        var options = options
        options.headers.removeSecrets()
        return options
    }
}

extension ApiConnectorError {
    /// - Parameter request: The request of the previous page.
    fileprivate static func pageIsNoURL(_ link: String, _ request: ApiRequest?) -> ApiConnectorError {
        let redactor = request?.redactor ?? .standard
        let shown = redactor.redact(prefixOf: Data(link.utf8), byteCount: 1024, mediaType: nil)
        let detail = "the previous page links to \"\(shown)\", which is not an http or https URL"
        return ApiConnectorError(.redirectRefused, at: .request, detail, request: request)
    }

    /// As with a redirect, the request with its query would be sent in the clear.
    fileprivate static func pageIsInsecure(_ request: ApiRequest) -> ApiConnectorError {
        let url = request.redactor.redact(request.url)
        let detail = "the previous page links to \"\(url)\", which is not encrypted"
        return ApiConnectorError(.redirectRefused, at: .request, detail, request: request)
    }

    fileprivate static func pagesGoRound(_ request: ApiRequest) -> ApiConnectorError {
        ApiConnectorError(
            .other,
            at: .request,
            "the previous page links to a page that was already read, so the pages form a loop",
            request: request
        )
    }

    fileprivate func onPage(_ number: Int) -> ApiConnectorError {
        var error = self
        error.detail = "on page \(number): \(detail)"
        return error
    }
}

/// The pages that an iteration has requested, for detecting a cycle of pages.
///
/// Two requests are equal if their method, URL, header fields and body are equal. A request with a streamed body is not
/// equal to any other.
struct PageHistory: Sendable {
    /// The maximum number of requests to remember.
    ///
    /// A cycle of fewer pages is detected, though not always in its first round.
    static let capacity = 10_000

    private struct Key: Hashable {
        let target: RequestTarget
        let headers: HTTPHeaders
        let body: Data

        init?(_ request: ApiRequest) {
            guard let body = try? request.body.data() else { return nil }
            self.body = body
            target = RequestTarget(request)
            headers = request.headers
        }
    }

    private var seen: Set<Key> = []

    /// Records a request; returns false if it was recorded before.
    mutating func insert(_ request: ApiRequest) -> Bool {
        guard let key = Key(request) else { return true }
        if seen.count == Self.capacity { seen = [] }
        return seen.insert(key).inserted
    }
}
