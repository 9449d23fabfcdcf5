// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A request on its way through providers to a transport.
///
/// It is a value: a wrapper changes its copy and passes the copy on.
public struct ApiRequest: Sendable {
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
            if credentialGuard != nil || context?.environment != nil { leaveSecretsBehind(at: old) }
        }
    }

    /// The URL, for code that itself decides which secrets to keep.
    var unguardedURL: URL { didSet { isKnownSendable = false } }

    /// The method; ``HTTPMethod/get`` by default.
    public var method: HTTPMethod { didSet { isKnownSendable = false } }

    /// The header fields; none by default.
    ///
    /// A transport adds the fields that HTTP requires, such as `Host` and `Content-Length`.
    public var headers: HTTPHeaders {
        didSet {
            isKnownSendable = false
            if credentialGuard != nil { headers = admittedHeaders }
        }
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

    /// The attempt and stall limits; no limits for a request without a connection.
    ///
    /// Each transport applies them to each request that it gets. So a wrapper that sends a request again does not need
    /// to set the limits. A wrapper that needs other limits can set them. ``Timeouts/overall`` is ignored here; the
    /// limit of the whole call is in ``deadline``.
    public var timeouts: Timeouts {
        get { limits?.timeouts ?? Timeouts() }
        set { limits = AttemptLimits(newValue.applied) }
    }

    /// The call's values for the providers; none by default.
    public var values = RequestValues()

    /// Restricts the secrets in the request; nil for no restriction.
    var credentialGuard: CredentialGuard?

    /// Whether the unchanged request was already checked, so that a transport need not check it again.
    var isKnownSendable = false

    /// The history of attempts; nil for the first attempt.
    var history: AttemptHistory?

    /// The connection's timers, limits and coders; nil for a request without a connection until one of them is set.
    var settings: RequestSettings?

    /// Ends the attempt at a time limit; nil outside of ``withTimeLimits(_:)``.
    var watch: AttemptWatch?

    /// State that the call's requests share; nil for a request without a connection until a wrapper sets it.
    var context: CallContext?

    /// Reports events to the observers; nil without an observer.
    var events: CallEvents?

    /// Names of secrets in this request that the standard redactor does not know; nil for none.
    var ownSecrets: OwnSecrets?

    /// The time source for providers that wait: the connection's, or the system's for a request without a connection.
    ///
    /// ``deadline`` is a time of this source.
    public var timeSource: any TimeSource {
        get { timerQueue.timeSource }
        set { timers = TimerQueue.on(newValue) }
    }

    var timerQueue: TimerQueue { timers ?? .system }

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
        self.context = route.map { CallContext(route: $0) }
        values.joinCurrentRefresh()
    }

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
}

extension ApiRequest: CustomStringConvertible, CustomReflectable {
    /// The method and the URL, with secrets replaced.
    public var description: String {
        "\(method) \(redactor.redact(url))"
    }

    /// Hides the properties from `dump`.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
