// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A request as an error or a log shows it: with every secret replaced.
public struct RequestSummary: Sendable, Hashable {
    /// The method.
    public let method: HTTPMethod

    /// The URL's text; user info and the values of secret query items are replaced.
    public let url: String

    /// The header fields; the values of secret ones are replaced.
    public let headers: HTTPHeaders

    /// What the route is called; nil for a request made by hand.
    public let routeName: String?

    /// Which attempt it was, counted from 1.
    public let attempt: Int

    /// Makes the summary of a request.
    public init(_ request: ApiRequest) {
        method = request.method
        url = request.redactor.redact(request.url)
        headers = request.redactor.redact(request.headers)
        routeName = request.routeName
        attempt = request.attempt
    }
}
