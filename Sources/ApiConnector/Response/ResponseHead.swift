// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A response without its body.
public struct ResponseHead: Sendable, Hashable {
    /// The status.
    public let status: HTTPStatus

    /// The header fields.
    public let headers: HTTPHeaders

    /// The URL of the response.
    public let url: URL

    /// How the cache was used; nil for a response from the server.
    public let cacheHit: CacheHit?

    /// Makes a head, for example for a test.
    public init(
        status: HTTPStatus,
        headers: HTTPHeaders = HTTPHeaders(),
        url: URL,
        cacheHit: CacheHit? = nil
    ) {
        self.cacheHit = cacheHit
        self.status = status
        self.headers = headers
        self.url = url
    }
}

extension ResponseHead: CustomStringConvertible, CustomReflectable {
    /// The status and the URL without its query, because a head does not know the names of its request's secrets.
    public var description: String { "\(status) from \(Redactor.standard.redact(url.withoutQueryAndUser))" }

    /// Hides the properties from `dump`.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension ApiResponse {
    /// The status, the header fields, the URL and the cache use.
    public var head: ResponseHead { ResponseHead(status: status, headers: headers, url: url, cacheHit: cacheHit) }
}
