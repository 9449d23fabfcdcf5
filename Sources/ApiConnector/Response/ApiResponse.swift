// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A response, as transports, test doubles and wrappers return it.
public struct ApiResponse: Sendable {
    /// The status.
    public var status: HTTPStatus

    /// The header fields, in their original order if the transport knows it.
    public var headers: HTTPHeaders

    /// The URL of the response: the URL of the last request, after redirects.
    public var url: URL

    /// The body.
    public var body: ResponseBody

    /// The request as it was sent, with all changes by wrappers.
    public var request: ApiRequest

    /// How the cache was used; nil for a response from the server.
    public var cacheHit: CacheHit?

    /// Whether the transport may have sent stored cookies, which ``request`` does not contain; false by default.
    ///
    /// A cache does not store such a response, because the cache could return the response to another user. If your own
    /// transport stores cookies, set this property.
    public var mayDependOnStoredCookies = false

    /// The times of the exchange's phases; nil if the transport does not measure them.
    ///
    /// The times of a streamed response grow until its body ends. A response from a cache has no times.
    public var times: TransportTimes? { timesRecord?.times }

    /// The record that the transport writes ``times`` to; nil by default.
    public var timesRecord: TransportTimesRecord?

    /// Makes a response to a request.
    ///
    /// - Parameters:
    ///   - request: The request as it was sent.
    ///   - status: The status.
    ///   - headers: The header fields; none by default.
    ///   - body: The body; empty by default.
    ///   - url: The URL of the response; the request's URL by default.
    public init(
        to request: ApiRequest,
        status: HTTPStatus,
        headers: HTTPHeaders = HTTPHeaders(),
        body: ResponseBody = ResponseBody(Data()),
        url: URL? = nil
    ) {
        self.status = status
        self.headers = headers
        self.url = url ?? request.url
        self.body = body
        self.request = request
    }

    /// The body's media type; nil if the response does not name one.
    public var mediaType: MediaType? {
        headers[.contentType].flatMap { MediaType($0) }
    }

    /// Whether the response never has a body: a response to HEAD, or with status 1xx, 204 or 304 (RFC 9110, section
    /// 6.4.1).
    public var forbidsBody: Bool {
        request.method == .head || status.forbidsBody
    }
}

extension ApiResponse: CustomStringConvertible, CustomReflectable {
    /// The status and the URL, with secrets replaced.
    public var description: String {
        "\(status) from \(request.redactor.redact(url))"
    }

    /// Hides the properties from `dump`.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension ApiResponse {
    /// The content coding of the body; nil if it is not compressed.
    ///
    /// The length of a compressed body differs from the number of delivered bytes.
    var contentCoding: String? {
        headers.values(.contentEncoding).first { $0.lowercased() != "identity" }
    }
}

/// How a cache was used for a response whose body did not come from the server.
///
/// Any cache can set it, including your own, so it is not part of the module `ApiConnectorTraffic`.
public enum CacheHit: String, Sendable, Hashable, CustomStringConvertible {
    /// The cached response was fresh; no request was sent.
    case fresh
    /// The cached response was stale, but the server, the call or a failure of the server allowed its use.
    case stale
    /// The cached response was revalidated: the server confirmed that it is still valid.
    case validated

    /// The name of the case.
    public var description: String { rawValue }
}
