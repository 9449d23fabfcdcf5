// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A call with a fixed value type, so that the caller needs no type annotation.
///
/// ```swift
/// extension ApiCall where Router == BlogRouter, Value == [Post] {
///     static func posts(for day: Date) -> Self { Self(.posts(for: day)) }
/// }
///
/// let posts = try await api.value(.posts(for: today))
/// ```
///
/// A call without a value, `ApiCall<Router, Void>`, is for ``ApiConnectionType/send(_:options:)``.
public struct ApiCall<Router: ApiRouter, Value: Sendable>: Sendable {
    let target: CallTarget<Router>

    /// Creates a call to a route; sends nothing.
    public init(_ route: Router) {
        target = .route(route)
    }

    /// Creates a call to a URL that a server returned.
    ///
    /// Use the calls with a URL instead, such as ``ApiConnectionType/value(_:at:method:body:options:)``.
    @available(*, deprecated, message: "Pass the URL to the call: value(at: url), pages(from: url), request(at: url).")
    public init(_ url: URL, method: HTTPMethod = .get, body: RequestBody = .empty) {
        target = .url(url, method, body)
    }
}

/// The target of a call: an endpoint of the router, or a URL that a server returned.
enum CallTarget<Router: ApiRouter>: Sendable {
    case route(Router)
    case url(URL, HTTPMethod, RequestBody)
}
