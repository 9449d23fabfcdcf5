// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// How a page of a backend's list leads to the next page.
///
/// ```swift
/// api.pages(of: [Post].self, from: .posts, next: .link)
/// api.pages(of: Listing.self, from: .posts, next: .route { $0.value.cursor.map { .posts(after: $0) } })
/// api.pages(of: [Post].self, from: .posts(page: 1), next: .number(after: 1) { .posts(page: $0) })
/// ```
public struct NextPage<Router: ApiRouter, Page: Sendable>: Sendable {
    /// The target after a page; nil after the last page.
    ///
    /// The integer is the number of the page, counted from 1.
    let target: @Sendable (DecodedResponse<Page>, Int) -> Result<CallTarget<Router>, InvalidPageLink>?

    /// Follows the first `Link` of the response with the relation `next` (RFC 8288); the default.
    ///
    /// A link is ignored if its `anchor` names a resource other than the page. The list ends if the page has no such
    /// link. If its only such link is not a URL, or has an `anchor` that is not a URL, the stream fails after the page
    /// with kind `.redirectRefused`.
    public static var link: NextPage {
        NextPage { page, _ in
            if let link = page.head.links.first(where: { $0.has(relation: "next") && $0.context == page.url }) {
                return .success(.url(link.target, .get, .empty))
            }
            let fields = page.headers.values(.link)
            return fields.lazy.compactMap { LinkFieldParser.invalidNext(in: $0, of: page.url) }.first
                .map { .failure(InvalidPageLink(text: $0)) }
        }
    }

    /// Follows a link that a closure reads from the page as text, such as a member of its JSON.
    ///
    /// ```swift
    /// api.pages(of: Listing.self, from: .posts, next: .link { $0.value.next })
    /// ```
    ///
    /// The list ends if the closure returns nil or an empty text. A relative text is relative to the page's own URL. If
    /// the text is not a URL, the stream fails after the page with kind `.redirectRefused`.
    public static func link(_ next: @escaping @Sendable (DecodedResponse<Page>) -> String?) -> NextPage {
        NextPage { page, _ in
            guard let text = next(page), !text.isEmpty else { return nil }
            guard let url = URLReference.target(of: text, from: page.url) else {
                return .failure(InvalidPageLink(text: text))
            }
            return .success(.url(url, .get, .empty))
        }
    }

    /// Gets the next page's route from a closure, which reads it from the page, for example from a cursor or a header
    /// field.
    ///
    /// If the closure returns nil, the list ends. If the backend's last page has an empty cursor, return nil for it.
    public static func route(_ next: @escaping @Sendable (DecodedResponse<Page>) -> Router?) -> NextPage {
        NextPage { page, _ in next(page).map { .success(.route($0)) } }
    }

    /// Gets the next page's URL from a closure, which reads it from the page.
    ///
    /// If the closure returns nil, the list ends. For a link that is a text, use ``link(_:)``: for a text that is not a
    /// URL, `URL(string:)` returns nil, and the list would end there.
    ///
    /// A URL without scheme or host is relative to the page's own URL.
    public static func url(_ next: @escaping @Sendable (DecodedResponse<Page>) -> URL?) -> NextPage {
        NextPage { page, _ in
            guard let url = next(page)?.absoluteURL else { return nil }
            let absolute = url.scheme == nil ? URL(string: url.relativeString, relativeTo: page.url) : url
            return .success(.url(absolute ?? url, .get, .empty))
        }
    }

    /// Requests pages by number, up to and including the first page that satisfies a predicate.
    ///
    /// - Parameters:
    ///   - first: The number or offset of the first page.
    ///   - step: The difference between the numbers of two pages; 1 by default.
    ///   - isLast: Whether a page is the last one.
    ///   - route: Returns the route of the page with the given number or offset.
    public static func number(
        after first: Int,
        by step: Int = 1,
        until isLast: @escaping @Sendable (Page) -> Bool,
        _ route: @escaping @Sendable (Int) -> Router
    ) -> NextPage {
        NextPage { page, count in isLast(page.value) ? nil : .success(.route(route(first + count * step))) }
    }
}

extension NextPage where Page: Collection {
    /// Requests pages by number until a page is empty.
    ///
    /// - Parameters:
    ///   - first: The number or offset of the first page.
    ///   - step: The difference between the numbers of two pages; 1 by default.
    ///   - route: Returns the route of the page with the given number or offset.
    public static func number(
        after first: Int,
        by step: Int = 1,
        _ route: @escaping @Sendable (Int) -> Router
    ) -> NextPage {
        number(after: first, by: step, until: \.isEmpty, route)
    }
}

/// A link to the next page that is not a URL.
struct InvalidPageLink: Error {
    let text: String
}
