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
