// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A response as a transport or a test double delivers it, and as wrappers hand it back.
public struct ApiResponse: Sendable {
    /// The status.
    public var status: HTTPStatus

    /// The header fields, in order as far as the transport knows it.
    public var headers: HTTPHeaders

    /// Where the response came from: the request's URL unless a redirect was followed.
    public var url: URL

    /// The body.
    public var body: ResponseBody

    /// The request as it was sent, with everything that wrappers changed.
    public var request: ApiRequest

    /// How it came out of a cache; nil where the server sent it.
    public var cacheHit: CacheHit?

    /// Whether the transport may have sent stored cookies, which ``request`` does not show; false by default.
    ///
    /// A cache does not store such a response, because it could serve the response to another user. Set it in your own
    /// transport if that transport keeps cookies.
    public var mayDependOnStoredCookies = false

    /// Where the time went; nil where the transport does not measure it.
    ///
    /// The times of a streamed response grow until its body has ended. A response out of a cache has none.
    public var times: TransportTimes? { timesRecord?.times }

    /// What the transport writes ``times`` into; nil, nothing, by default.
    public var timesRecord: TransportTimesRecord?

    /// Makes a response to a request.
    ///
    /// - Parameters:
    ///   - request: The request as it was sent.
    ///   - status: The status.
    ///   - headers: The header fields; none by default.
    ///   - body: The body; empty by default.
    ///   - url: Where it came from; the request's URL by default.
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

    /// The body's media type, if the response names one.
    public var mediaType: MediaType? {
        headers[.contentType].flatMap { MediaType($0) }
    }

    /// Whether the response has no body by definition: to HEAD, or of status 1xx, 204 or 304 (RFC 9110, section 6.4.1).
    public var forbidsBody: Bool {
        request.method == .head || status.forbidsBody
    }
}

extension ApiResponse: CustomStringConvertible, CustomReflectable {
    /// Status and URL, with secrets replaced.
    public var description: String {
        "\(status) from \(request.redactor.redact(url))"
    }

    /// What a dump shows: nothing that the description does not.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
