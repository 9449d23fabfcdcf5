// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A request on its way through providers to a transport.
///
/// It is a value: a wrapper changes its copy and passes the copy on.
public struct ApiRequest: Sendable, CustomStringConvertible, CustomReflectable {
    /// The URL of the request; http or https.
    ///
    /// If a wrapper sets a URL with another origin, the request loses its secret header fields. The new URL loses the
    /// secret query items and the user info that it shares with the earlier URL. To keep these secrets for allowed
    /// origins, use ``moved(to:showingCredentialsTo:)``.
    public var url: URL {
        get { unguardedURL }
        set {
            let old = unguardedURL
            unguardedURL = newValue
            if withholdsCredentials || context?.environment != nil { leaveSecretsBehind(at: old) }
        }
    }

    /// The URL, for code that itself decides which secrets to keep.
    var unguardedURL: URL

    /// The method; ``HTTPMethod/get`` by default.
    public var method: HTTPMethod

    /// The header fields; none by default.
    ///
    /// A transport adds the fields that HTTP requires, such as `Host` and `Content-Length`.
    public var headers: HTTPHeaders {
        didSet { if withholdsCredentials { headers = admittedHeaders } }
    }

    /// The body; ``RequestBody/empty`` by default.
    public var body: RequestBody

    /// How the caller receives the response's body; by default collected, up to 64 MiB.
    public var delivery: ResponseDelivery

    /// The number of the attempt, counted from 1.
    public var attempt: Int

    /// When the whole call has to end, as a time of ``timeSource``; nil for no limit.
    ///
    /// All waits in the library end at the deadline. Your own wrappers should do the same when they wait.
    public var deadline: Duration?

    /// The call's values for the providers; none by default.
    public var values = RequestValues()

    /// The library's own part of the request.
    var state: RequestState

    /// Makes a request for use without a connection.
    ///
    /// Only the URL has no default. The route is nil by default.
    public init(
        url: URL,
        method: HTTPMethod = .get,
        headers: HTTPHeaders = HTTPHeaders(),
        body: RequestBody = .empty,
        delivery: ResponseDelivery = .standard,
        route: (any ApiRouter)? = nil
    ) {
        unguardedURL = url
        self.method = method
        self.headers = headers
        self.body = body
        self.delivery = delivery
        self.attempt = 1
        self.state = RequestState(route.map { CallContext(route: $0) })
        values.joinCurrentRefresh()
    }

    /// The attempt and stall limits; no limits for a request without a connection.
    ///
    /// Each transport applies them to each request that it gets. So a wrapper that sends a request again does not need
    /// to set the limits. A wrapper that needs other limits can set them. ``Timeouts/overall`` is ignored here; the
    /// limit of the whole call is in ``deadline``.
    public var timeouts: Timeouts {
        get { limits?.timeouts ?? Timeouts() }
        set { limits = AttemptLimits(newValue.applied) }
    }

    /// The time source for providers that wait: the connection's, or the system's for a request without a connection.
    ///
    /// ``deadline`` is a time of this source.
    public var timeSource: any TimeSource {
        get { timerQueue.timeSource }
        set { timers = TimerQueue.on(newValue) }
    }

    var timerQueue: TimerQueue { timers ?? .system }

    /// The priority among the requests that wait for the same limit; ``CallPriority/normal`` by default.
    public var priority: CallPriority {
        get { values.priority }
        set { values.priority = newValue }
    }

    /// The progress of the body's upload; nil by default.
    ///
    /// A wrapper that sends two copies of the request at the same time sets the progress of one copy to nil.
    public var uploadProgress: UploadProgress? {
        get { values.uploadProgress }
        set { values.uploadProgress = newValue }
    }

    /// The route of the request; nil for a request without a route.
    ///
    /// A following page of a list has the first page's route if both pages have the same origin.
    public var route: (any ApiRouter)? { context?.route ?? context?.pageRoute }

    /// The name of the route in logs and metrics, of low cardinality; nil for a request without a route.
    ///
    /// For an ``ApiPath``, it is the path with `{}` for each value, such as `/authors/{}/posts/{}`. For a `String`
    /// path, it is the name of the enum case. The name is computed at each access.
    public var routeName: String? { route?.routeName }

    /// Whether sending the request twice has the same effect as sending it once.
    ///
    /// This is the case if its method is idempotent, or if it has an `Idempotency-Key`. Its body may still not be
    /// replayable; see ``RequestBody/isReplayable``.
    public var isRepeatable: Bool {
        method.isIdempotent || headers[.idempotencyKey]?.isEmpty == false
    }

    /// Throws if the request must not be sent; each transport calls it before it sends a request.
    ///
    /// - Throws: ``ApiConnectorError`` of kind `.invalidRequest` that names the invalid part.
    public func checkSendable() throws(ApiConnectorError) {
        if let flaw = RequestFlaw.text(of: self) {
            throw ApiConnectorError(.invalidRequest, at: .request, flaw, request: self)
        }
    }

    /// The request as a `curl` command for any POSIX shell, with one option per line.
    ///
    /// The same request always gives the same command. A connection that makes the request again may encode JSON with
    /// its keys in another order.
    ///
    /// If a body is not text, contains control characters or is longer than 64 KiB, `printf` writes it to a pipe. If a
    /// body does not encode, the error replaces it.
    ///
    /// Secrets are replaced by the redactor, which is ``Redactor/standard`` by default. With nil, the command contains
    /// the secrets and can be run as it is.
    ///
    /// With a redactor, a body that ``DataRequestType/compressingBodies(from:)`` has compressed is shown uncompressed.
    /// Of any other compressed body, only the size is shown.
    ///
    /// - Complexity: O(*n*) in the size of the request, including its body.
    public func curlCommand(redacting redactor: Redactor? = .standard) -> String {
        guard let redactor else { return CurlCommand.text(of: self, redacting: nil) }
        return CurlCommand.text(of: uncompressed, redacting: self.redactor(from: redactor))
    }

    /// The method and the URL, with secrets replaced.
    public var description: String {
        "\(method) \(redactor.redact(url))"
    }

    /// Hides the properties from `dump`.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// How a caller receives a response's body.
public enum ResponseDelivery: Sendable, Hashable {
    /// The whole body, up to this number of bytes; a longer body fails with kind `.bodyTooLarge`.
    case collected(upTo: Int)

    /// As a stream: the provider returns the response when its head arrives, and the reader pulls the chunks of
    /// ``ApiResponse/body``.
    case streamed

    /// Collected, up to 64 MiB.
    public static let standard = ResponseDelivery.collected(upTo: 64 * 1024 * 1024)

    /// The maximum size of the body in bytes; no limit for a streamed body, because its reader can apply one.
    public var maximumByteCount: Int {
        switch self {
        case .collected(upTo: let count): count
        case .streamed: .max
        }
    }
}
