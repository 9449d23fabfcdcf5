// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A request as errors and logs show it, with all secrets replaced.
public struct RequestSummary: Sendable, Hashable {
    /// The method.
    public let method: HTTPMethod

    /// The URL; user info and the values of secret query items are replaced.
    public let url: String

    /// The header fields; the values of secret fields are replaced.
    public let headers: HTTPHeaders

    /// The name of the route; nil for a request without a route.
    public let routeName: String?

    /// The number of the attempt, counted from 1.
    public let attempt: Int

    /// Makes the summary of a request.
    public init(_ request: ApiRequest) {
        self.init(request, nil)
    }

    /// - Parameter redactor: The request's redactor; created if nil.
    init(_ request: ApiRequest, _ redactor: Redactor?) {
        let redactor = redactor ?? request.textRedactor
        method = request.method
        url = redactor.redact(request.url)
        headers = redactor.redact(request.headers)
        routeName = request.routeName
        attempt = request.attempt
    }
}

extension RequestSummary: CustomStringConvertible {
    /// The method and the URL on one line, such as `GET https://api.example.com/me`.
    public var description: String { "\(method) \(url)" }
}
