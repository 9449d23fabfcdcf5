// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// How one page of a backend's list leads to the next.
///
/// ```swift
/// api.pages(of: [Post].self, from: .posts, next: .link)
/// api.pages(of: Listing.self, from: .posts, next: .route { $0.value.cursor.map { .posts(after: $0) } })
/// api.pages(of: [Post].self, from: .posts(page: 1), next: .number(after: 1) { .posts(page: $0) })
/// ```
public struct NextPage<Router: ApiRouter, Page: Sendable>: Sendable {
    /// What to ask behind a page, which is the given one in order, counted from 1; nil behind the last.
    let target: @Sendable (DecodedResponse<Page>, Int) -> CallTarget<Router>?

    /// The target of the response's first `Link` with the relation `next` (RFC 8288); the default.
    ///
    /// A link whose `anchor` names something else than the page is ignored.
    public static var link: NextPage {
        url { page in
            page.head.links.first { $0.has(relation: "next") && $0.context == page.url }?.target
        }
    }

    /// The route that a closure makes of a page, such as of its cursor or of a header field; nil ends the list.
    public static func route(_ next: @escaping @Sendable (DecodedResponse<Page>) -> Router?) -> NextPage {
        NextPage { page, _ in next(page).map { .route($0) } }
    }

    /// The URL that a closure takes from a page; nil ends the list.
    ///
    /// One without scheme or host is relative to the page's own URL.
    public static func url(_ next: @escaping @Sendable (DecodedResponse<Page>) -> URL?) -> NextPage {
        NextPage { page, _ in
            guard let url = next(page)?.absoluteURL else { return nil }
            let absolute = url.scheme == nil ? URL(string: url.relativeString, relativeTo: page.url) : url
            return .url(absolute ?? url, .get, .empty)
        }
    }

    /// Pages by number, until one satisfies a predicate; that one is returned too.
    ///
    /// - Parameters:
    ///   - first: The first page's number, or its offset.
    ///   - step: How much each page's number is above the one before; 1 by default.
    ///   - isLast: Whether no page follows.
    ///   - route: The route of the page with a number.
    public static func number(
        after first: Int,
        by step: Int = 1,
        until isLast: @escaping @Sendable (Page) -> Bool,
        _ route: @escaping @Sendable (Int) -> Router
    ) -> NextPage {
        NextPage { page, count in isLast(page.value) ? nil : .route(route(first + count * step)) }
    }
}

extension NextPage where Page: Collection {
    /// Pages by number, until one is empty.
    ///
    /// - Parameters:
    ///   - first: The first page's number, or its offset.
    ///   - step: How much each page's number is above the one before; 1 by default.
    ///   - route: The route of the page with a number.
    public static func number(
        after first: Int,
        by step: Int = 1,
        _ route: @escaping @Sendable (Int) -> Router
    ) -> NextPage {
        number(after: first, by: step, until: \.isEmpty, route)
    }
}
