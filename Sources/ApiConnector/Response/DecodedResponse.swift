// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A decoded value with the head of its response.
public struct DecodedResponse<Value: Sendable>: Sendable {
    /// The value.
    public let value: Value

    /// The response's head.
    public let head: ResponseHead

    /// The status.
    public var status: HTTPStatus { head.status }

    /// The header fields.
    public var headers: HTTPHeaders { head.headers }

    /// The URL of the response.
    public var url: URL { head.url }

    /// How the cache was used; nil for a response from the server.
    public var cacheHit: CacheHit? { head.cacheHit }

    /// The times of the exchange's phases; nil if the transport does not measure them.
    ///
    /// See ``ApiResponse/times``.
    public var times: TransportTimes? { timesRecord?.times }

    private let timesRecord: TransportTimesRecord?

    /// Makes a decoded response, for example for a test.
    public init(value: Value, head: ResponseHead, timesRecord: TransportTimesRecord? = nil) {
        self.value = value
        self.head = head
        self.timesRecord = timesRecord
    }
}
