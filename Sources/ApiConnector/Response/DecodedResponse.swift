// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A decoded value together with the head of the response that it came in.
public struct DecodedResponse<Value: Sendable>: Sendable {
    /// The value.
    public let value: Value

    /// The response's head.
    public let head: ResponseHead

    /// The status.
    public var status: HTTPStatus { head.status }

    /// The header fields.
    public var headers: HTTPHeaders { head.headers }

    /// Where the response came from.
    public var url: URL { head.url }

    /// How it came out of a cache; nil where the server sent it.
    public var cacheHit: CacheHit? { head.cacheHit }

    /// Where the time went; nil where the transport does not measure it.
    ///
    /// See ``ApiResponse/times``.
    public var times: TransportTimes? { timesRecord?.times }

    private let timesRecord: TransportTimesRecord?

    /// Makes a decoded response, such as for a test.
    public init(value: Value, head: ResponseHead, timesRecord: TransportTimesRecord? = nil) {
        self.value = value
        self.head = head
        self.timesRecord = timesRecord
    }
}
