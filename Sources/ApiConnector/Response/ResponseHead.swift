// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A response without its body.
public struct ResponseHead: Sendable, Hashable {
    /// The status.
    public let status: HTTPStatus

    /// The header fields, as they came.
    public let headers: HTTPHeaders

    /// Where the response came from.
    public let url: URL

    /// How the response came out of a cache; nil where the server sent it.
    public let cacheHit: CacheHit?

    /// Makes a head, such as for a test.
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

extension ApiResponse {
    /// Status, header fields and URL, and whether a cache had it.
    public var head: ResponseHead { ResponseHead(status: status, headers: headers, url: url, cacheHit: cacheHit) }
}
