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
        self.init(request, nil)
    }

    /// - Parameter redactor: The request's own; made here where it is nil.
    init(_ request: ApiRequest, _ redactor: Redactor?) {
        let redactor = redactor ?? request.textRedactor
        method = request.method
        url = redactor.redact(request.url)
        headers = redactor.redact(request.headers)
        routeName = request.routeName
        attempt = request.attempt
    }
}
