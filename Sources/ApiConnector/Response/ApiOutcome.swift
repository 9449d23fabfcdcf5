// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The outcome of a call: a value, the backend's own error, or a failure of the call.
public enum ApiOutcome<Value: Sendable, Failure: Sendable>: Sendable {
    /// The value.
    case success(Value)

    /// The backend's own error with the response's head, for any status.
    case backendFailure(Failure, ResponseHead)

    /// Any other failure: no connection, or a response with an unacceptable status or body.
    case failure(ApiConnectorError)

    /// Returns the value or throws the error.
    ///
    /// - Throws: ``ApiConnectorError``. For the backend's own error, its kind is `.backendFailure`, and it contains the
    ///   failure.
    public func get() throws(ApiConnectorError) -> Value {
        switch self {
        case .success(let value):
            return value
        case .backendFailure(let failure, let head):
            let detail = "the backend answered \(head.status) and reported its own error"
            var error = ApiConnectorError(.backendFailure, at: .envelope, detail, head: head)
            error.backendFailure = failure
            error.problem = failure as? ProblemDetails
            throw error
        case .failure(let error):
            throw error
        }
    }
}

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

extension ResponseHead {
    /// The links in the response's `Link` fields; see ``WebLink/links(in:of:)``.
    public var links: [WebLink] { WebLink.links(in: headers, of: url) }
}

/// The value of an empty body: nil for an optional type; other types have none.
enum AbsentValue {
    static func of<Value>(_ type: Value.Type) -> Value? {
        (type as? any OptionalValue.Type)?.absent as? Value
    }
}

/// Lets generic code check whether a type is an optional, and get its nil.
private protocol OptionalValue {
    static var absent: Self { get }
}

extension Optional: OptionalValue {
    fileprivate static var absent: Self { .none }
}
